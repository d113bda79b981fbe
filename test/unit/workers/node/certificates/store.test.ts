import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newAuthority } from '../../../../../workers/controller/certificates/issue.ts';
import { loadCredentials, saveCredentials } from '../../../../../workers/node/certificates/store.ts';
import { credentialsOf } from './support.ts';

const hour = 3_600_000;
const now = Date.parse('2026-05-01T12:00:00Z');

let directory: string;
let warnings: unknown[];
const log = { warn: (...words: unknown[]) => void warnings.push(words) };
const good = async () => credentialsOf(await newAuthority(now, 100 * hour), 'node-a', now, 24 * hour);
const load = (node = 'node-a', at = now) => loadCredentials(directory, node, at, log);

beforeEach(async () => {
  warnings = [];
  directory = join(await mkdtemp(join(tmpdir(), 'virtflow-store-')), 'certificates');
});
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }));

test('what was stored is found again, by root alone', async () => {
  const credentials = await good();
  await saveCredentials(directory, credentials, log);
  await expect(load()).resolves.toEqual(credentials);
  expect(await readdir(directory)).toEqual(['credentials.json']);
  expect((await stat(join(directory, 'credentials.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test('nothing stored is no reason for a warning', async () => {
  await expect(load()).resolves.toBeUndefined();
  expect(warnings).toEqual([]);
});

test('what is expired, of another node or of an unknown authority is not used', async () => {
  const credentials = await good();
  await saveCredentials(directory, credentials, log);
  await expect(load('node-a', now + 24 * hour)).resolves.toBeUndefined();
  await expect(load('node-b')).resolves.toBeUndefined();
  await saveCredentials(directory, { ...credentials, ca: (await newAuthority(now, hour)).certificate }, log);
  await expect(load()).resolves.toBeUndefined();
});

test('a damaged file is not used, and its content is not logged', async () => {
  const credentials = await good();
  await saveCredentials(directory, credentials, log);
  const file = join(directory, 'credentials.json');
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
  await expect(load()).resolves.toBeUndefined();
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings)).not.toContain('PRIVATE');
});

test('a place that cannot be written is a warning and no more', async () => {
  await writeFile(directory, 'a file in its place');
  await chmod(directory, 0o400);
  await saveCredentials(directory, await good(), log);
  expect(warnings).toHaveLength(1);
});
