import { createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { readBody } from '../../../../../workers/controller/subresources/body.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A request of which a test sends what it likes, and what the server receives. */
const incoming = async (
  headers: Record<string, string>,
): Promise<{ client: ClientRequest; message: IncomingMessage }> => {
  const received = Promise.withResolvers<IncomingMessage>();
  const server = createServer((message) => received.resolve(message)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = request({ host: '127.0.0.1', port, method: 'PUT', headers });
  client.on('error', () => undefined);
  client.flushHeaders();
  closing.push(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { client, message: await received.promise };
};

const sent = async (text: string, headers: Record<string, string> = {}, isStrict = false) => {
  const { client, message } = await incoming(headers);
  client.end(text);
  return readBody(message, isStrict);
};

test.each`
  text                          | value
  ${''}                         | ${undefined}
  ${' \n'}                      | ${undefined}
  ${'{"paused": true}'}         | ${{ paused: true }}
  ${'null'}                     | ${null}
  ${'paused: true\ndryRun: []'} | ${{ paused: true, dryRun: [] }}
  ${'"text"'}                   | ${'text'}
`('$text is read', async ({ text, value }) => {
  expect(await sent(text as string)).toEqual({ value });
});

test.each(['{"paused": tru', '{', '[1, ', 'a: b: c', 'a: &a [1]\nb: *a'])('%j is refused', async (text) => {
  expect(await sent(text)).toMatchObject({ refusal: { code: 400 } });
});

test.each`
  headers                                                      | isStrict | code
  ${{ 'content-type': 'application/json; charset=utf-8' }}     | ${true}  | ${undefined}
  ${{}}                                                        | ${true}  | ${undefined}
  ${{ 'content-type': 'application/x-www-form-urlencoded' }}   | ${false} | ${undefined}
  ${{ 'content-type': 'application/yaml' }}                    | ${true}  | ${415}
  ${{ 'content-type': 'application/vnd.kubernetes.protobuf' }} | ${false} | ${415}
  ${{ 'content-encoding': 'gzip' }}                            | ${false} | ${415}
`('of $headers: $code', async ({ headers, isStrict, code }) => {
  const { refusal } = await sent('{}', headers as Record<string, string>, isStrict as boolean);
  expect(refusal?.code).toBe(code);
});

test('a body that comes too slowly is refused, in time', async () => {
  const { client, message } = await incoming({ 'content-length': '100' });
  client.write('{"pa');
  expect(await readBody(message, false, 50)).toMatchObject({ refusal: { code: 408, reason: 'Timeout' } });
});

test('whoever goes away in the middle of it gets no answer', async () => {
  const { client, message } = await incoming({ 'content-length': '100' });
  const reading = readBody(message);
  client.destroy();
  await expect(reading).rejects.toThrow('the client closed the connection');
});

test('without an end it is refused before it fills the memory', async () => {
  const { client, message } = await incoming({ 'transfer-encoding': 'chunked' });
  const reading = readBody(message);
  const piece = Buffer.alloc(1_000_000, 'x');
  for (let index = 0; index < 20; index += 1) client.write(piece);
  expect(await reading).toMatchObject({ refusal: { code: 413, reason: 'RequestEntityTooLarge' } });
});
