import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RelayOptions } from '../../../../../activities/node/migration-proxy/relay.ts';
import { relay } from '../../../../../activities/node/migration-proxy/relay.ts';
import { until } from '../../../../support/until.ts';

let server: Server;
let waiting: ((socket: Socket) => void)[];
let done: boolean;
let ends: Socket[];

beforeEach(async () => {
  [waiting, done, ends] = [[], false, []];
  server = createServer({ allowHalfOpen: true }, (socket) => waiting.shift()?.(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const socket of ends) socket.destroy();
  server.close();
});

/** Both ends of a connection. */
const pair = async (): Promise<[Socket, Socket]> => {
  const other = new Promise<Socket>((resolve) => waiting.push(resolve));
  const one = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  one.on('error', () => undefined);
  return [one, await other];
};

/** a | near = far | b */
const joined = async (options: RelayOptions = {}): Promise<{ a: Socket; b: Socket; near: Socket; far: Socket }> => {
  const [a, near] = await pair();
  const [b, far] = await pair();
  ends.push(a, b);
  relay(near, far, () => (done = true), options);
  return { a, b, near, far };
};

test('each direction ends by itself: what is answered after an end still arrives', async () => {
  const { a, b } = await joined();
  const answer = buffer(a);
  a.end('question');
  expect((await buffer(b)).toString()).toBe('question');
  b.write('a long ');
  b.end('answer');
  expect((await answer).toString()).toBe('a long answer');
  await until('both to close', () => done);
});

test('a connection that breaks on one side breaks on the other', async () => {
  const { a, b } = await joined();
  b.resume();
  a.write('half a');
  a.resetAndDestroy();
  await until('the other side', () => b.destroyed || b.readableEnded);
  b.destroy();
  await until('both to close', () => done);
});

test('a side that is destroyed here takes the other with it', async () => {
  const { a, b, near, far } = await joined();
  a.resume();
  b.resume();
  near.destroy();
  await until('the other side', () => far.destroyed);
  await until('both to close', () => done);
});

test('with patience the near side is told later: of a break', async () => {
  const { a, b, near, far } = await joined({ lingerMs: 300 });
  a.resume();
  b.resetAndDestroy();
  await until('the far side', () => far.destroyed);
  expect(near.destroyed).toBe(false);
  await until('both to close', () => done);
});

test('with patience the near side is told later: of an end, and all that was said before arrives', async () => {
  const { a, b, far } = await joined({ lingerMs: 300 });
  const heard = buffer(a);
  b.resume();
  b.end('last words');
  await until('the end', () => far.readableEnded);
  expect(a.readableEnded).toBe(false);
  expect((await heard).toString()).toBe('last words');
  a.end();
  await until('both to close', () => done);
});
