import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import type { JoinOptions, Joined } from '../../../../../workers/node/guest-access/join.ts';
import { join } from '../../../../../workers/node/guest-access/join.ts';
import { until } from '../../../../support/until.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Two ends of a TCP connection. */
const pair = async (): Promise<[Socket, Socket]> => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const far = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  const [near] = await accepted;
  server.close();
  for (const socket of [near, far]) socket.on('error', () => undefined);
  sockets.push(near, far);
  return [near, far];
};

interface Ends extends Joined {
  /** Of whoever is at the other end. */
  client: Socket;
  guest: Socket;
  isDone: () => boolean;
}

const joined = async (options: Partial<JoinOptions>): Promise<Ends> => {
  const [[client, farClient], [guest, farGuest]] = [await pair(), await pair()];
  let done = 0;
  const { close } = join({ client, guest, halfOpen: false, ...options, done: () => void done++ });
  return { close, client: farClient, guest: farGuest, isDone: () => done === 1 };
};

/** Writes as long as the other side takes it; counts in `sent`. */
const pump = (socket: Socket): { sent: number } => {
  const counter = { sent: 0 };
  const chunk = Buffer.alloc(64 * 1024);
  const more = (): void => {
    do counter.sent += chunk.length;
    while (socket.write(chunk));
  };
  socket.on('drain', more);
  more();
  return counter;
};

test('bytes go both ways, and the end of either is the end of both', async () => {
  for (const who of ['client', 'guest'] as const) {
    const ends = await joined({});
    ends.client.write('to the guest');
    expect(String((await once(ends.guest, 'data'))[0])).toBe('to the guest');
    ends[who].end('last words');
    const other = who === 'client' ? ends.guest : ends.client;
    await once(other.resume(), 'end');
    ends.client.end();
    await until(`both are closed after the ${who} ended`, ends.isDone);
  }
});

test('half open, one direction ends by itself', async () => {
  const ends = await joined({ halfOpen: true });
  ends.client.end('question');
  expect((await buffer(ends.guest)).toString()).toBe('question');
  ends.guest.end('answer');
  expect((await buffer(ends.client)).toString()).toBe('answer');
  await until('both are closed', ends.isDone);
});

test('closed by us, what the guest said still reaches the client', async () => {
  const ends = await joined({});
  ends.guest.write('before the end');
  expect(String((await once(ends.client, 'data'))[0])).toBe('before the end');
  ends.close();
  await once(ends.client.resume(), 'end');
  ends.client.end();
  await until('both are closed', ends.isDone);
});

test('a client that takes nothing holds the guest back, and is cut off only where that is wanted', async () => {
  const patient = await joined({});
  const strict = await joined({ stallMs: 300 });
  const sent = pump(patient.guest);
  pump(strict.guest);
  await until('the strict one is cut off', strict.isDone);
  const before = sent.sent;
  expect(patient.isDone()).toBe(false);
  expect(before).toBeLessThan(64 * 1024 * 1024);
  patient.client.resume();
  await until('the patient one goes on', () => sent.sent > before + 1024 * 1024);
});

test('a client that reads now and then is not cut off', async () => {
  const ends = await joined({ stallMs: 1_500 });
  pump(ends.guest);
  let turns = 0;
  const reading = setInterval(() => {
    turns += 1;
    if (turns % 2 === 0) ends.client.resume();
    else ends.client.pause();
  }, 100);
  await until('it has read for longer than it may do nothing', () => turns > 25);
  clearInterval(reading);
  expect(ends.isDone()).toBe(false);
});
