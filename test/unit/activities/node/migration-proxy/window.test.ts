import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { Directions } from '../../../../../activities/node/migration-proxy/window.ts';
import { sourceWindow, targetWindow } from '../../../../../activities/node/migration-proxy/window.ts';
import { until } from '../../../../support/until.ts';

/** What `side` sends goes to the other; `cut`: in pieces of so many bytes. */
const joined = (source: Directions, target: Directions, cut = 1 << 20): void => {
  const pieces = new PassThrough();
  target.out.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += cut) pieces.write(chunk.subarray(at, at + cut));
  });
  target.out.on('end', () => pieces.end());
  pieces.pipe(source.in);
  source.out.pipe(target.in);
};
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => i % 251));

test.each([1, 2, 3, 5, 64])('what both sides say arrives as it was, in pieces of %i bytes too', async (cut) => {
  const [source, target] = [sourceWindow(1000), targetWindow(100)];
  joined(source, target, cut);
  const [there, back] = [buffer(target.in), buffer(source.in)];
  Readable.from([bytes(700), bytes(2500), bytes(1)], { objectMode: false }).pipe(source.out);
  Readable.from([bytes(9), bytes(300)], { objectMode: false }).pipe(target.out);
  expect(await there).toEqual(Buffer.concat([bytes(700), bytes(2500), bytes(1)]));
  expect(await back).toEqual(Buffer.concat([bytes(9), bytes(300)]));
});

test('no more is under way than a window and a chunk while the target takes nothing', async () => {
  const { out } = sourceWindow(1000);
  let sent = 0;
  out.on('data', (chunk: Buffer) => (sent += chunk.length));
  for (let i = 0; i < 20; i++) out.write(bytes(300));
  await until('it to stop', () => sent >= 1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toBe(1200);
});

test('it goes on as the target takes', async () => {
  const [source, target] = [sourceWindow(1000), targetWindow(100)];
  joined(source, target);
  source.in.resume();
  let arrived = 0;
  target.in.on('data', (chunk: Buffer) => (arrived += chunk.length));
  for (let i = 0; i < 20; i++) source.out.write(bytes(300));
  await until('all to arrive', () => arrived === 6000);
});

test('a target that has said its last word is sent the rest all the same', async () => {
  const { out, in: incoming } = sourceWindow(1000);
  incoming.resume();
  const all = buffer(out);
  for (let i = 0; i < 20; i++) out.write(bytes(300));
  out.end();
  incoming.end();
  expect(await all).toHaveLength(6000);
});
