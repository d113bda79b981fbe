import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { allowUserfaultfd } from '../../../../../activities/node/migration/userfaultfd.ts';

const file = async (): Promise<string> => join(await mkdtemp(join(tmpdir(), 'vf-switch-')), 'switch');

test.each(['0\n', '1\n'])('a switch at %j is on afterwards', async (before) => {
  const path = await file();
  await writeFile(path, before);
  await allowUserfaultfd(path);
  expect((await readFile(path, 'utf8')).trim()).toBe('1');
});

test('a kernel without the switch is left as it is', async () => {
  await expect(allowUserfaultfd(await file())).resolves.toBeUndefined();
});

test('a switch that cannot be set is an error', async () => {
  await expect(allowUserfaultfd(tmpdir())).rejects.toThrow('EISDIR');
});
