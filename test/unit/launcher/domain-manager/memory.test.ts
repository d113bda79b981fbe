import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Memory } from '../../../../launcher/domain-manager/memory.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'vf-memory-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('each start is a new epoch, from 1', () => {
  expect([1, 2, 3].map(() => Memory.open(directory).now.epoch)).toEqual([1, 2, 3]);
});

test('what was remembered is there after a restart', () => {
  const before = Memory.open(directory);
  before.update({ started: true, tokenEpoch: 7 });
  before.update({ shutdownDeadline: 123 });
  expect(Memory.open(directory).now).toEqual({ epoch: 2, started: true, tokenEpoch: 7, shutdownDeadline: 123 });
  expect(readdirSync(directory)).toEqual(['launcher.json']);
});

test('a damaged file is an error: the order of reports could not be kept', () => {
  writeFileSync(join(directory, 'launcher.json'), '{"epoch":');
  expect(() => Memory.open(directory)).toThrow();
});
