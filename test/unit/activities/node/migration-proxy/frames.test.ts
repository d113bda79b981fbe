import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { encodeFrame, readFrame } from '../../../../../activities/node/migration-proxy/frames.ts';

const limits = { maxBytes: 64, timeoutMs: 2_000 };

test('a frame is read whole, however it arrives, and not a byte of what follows', async () => {
  const stream = new PassThrough();
  const reading = readFrame(stream, limits);
  const bytes = Buffer.concat([encodeFrame({ channel: 'memory' }), Buffer.from('raw bytes')]);
  for (const byte of bytes) stream.write(Buffer.from([byte]));
  stream.end();
  expect(await reading).toEqual({ channel: 'memory' });
  const rest: Buffer[] = [];
  for await (const chunk of stream) rest.push(chunk as Buffer);
  expect(Buffer.concat(rest).toString()).toBe('raw bytes');
});

test('frames that arrive together are read one by one', async () => {
  const stream = new PassThrough();
  stream.write(Buffer.concat([encodeFrame(1), encodeFrame('two'), encodeFrame([3])]));
  expect(await readFrame(stream, limits)).toBe(1);
  expect(await readFrame(stream, limits)).toBe('two');
  expect(await readFrame(stream, limits)).toEqual([3]);
});

test('what follows a frame flows into a pipe in order', async () => {
  const stream = new PassThrough();
  const out = new PassThrough();
  stream.write(Buffer.concat([encodeFrame({}), Buffer.from('one')]));
  await readFrame(stream, limits);
  stream.pipe(out);
  stream.write('two');
  stream.end('three');
  const got: Buffer[] = [];
  for await (const chunk of out) got.push(chunk as Buffer);
  expect(Buffer.concat(got).toString()).toBe('onetwothree');
});

const length = (bytes: number): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes);
  return head;
};

test.each([
  ['a length beyond the limit', length(65), /65 bytes; at most 64/],
  ['an empty frame', length(0), /0 bytes/],
  ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), /at most 64/],
  ['no JSON', Buffer.concat([length(4), Buffer.from('nope')]), /no JSON/],
])('%s is refused at once', async (_, bytes, message) => {
  const stream = new PassThrough();
  stream.write(bytes);
  await expect(readFrame(stream, limits)).rejects.toThrow(message);
});

test.each([
  ['within the length', length(8).subarray(0, 2)],
  ['within the body', Buffer.concat([length(8), Buffer.from('"x')])],
  ['before anything', Buffer.alloc(0)],
])('a stream that ends %s is refused', async (_, bytes) => {
  const stream = new PassThrough();
  stream.end(bytes);
  await expect(readFrame(stream, limits)).rejects.toThrow(/ended within a frame/);
});

test('a stream that has ended is refused at once', async () => {
  const stream = new PassThrough();
  stream.end();
  stream.resume();
  await once(stream, 'end');
  await expect(readFrame(stream, limits)).rejects.toThrow(/ended within a frame/);
});

test('a stream that is destroyed, before or while it is read, is refused', async () => {
  const before = new PassThrough();
  before.destroy();
  await expect(readFrame(before, limits)).rejects.toThrow();
  const later = new PassThrough();
  const reading = readFrame(later, limits);
  later.destroy();
  await expect(reading).rejects.toThrow();
});

test('whoever sends byte after byte does not get more time for it', async () => {
  const stream = new PassThrough();
  const reading = readFrame(stream, { maxBytes: 64, timeoutMs: 50 });
  const drip = setInterval(() => stream.write(Buffer.from([0])), 20);
  await expect(reading)
    .rejects.toThrow(/within 50 ms|0 bytes/)
    .finally(() => clearInterval(drip));
});
