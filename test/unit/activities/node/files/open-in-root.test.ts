import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createFileIn, openDirectoryIn, openFileIn } from '../../../../../activities/node/files/open-in-root.ts';

let outside: string;
let root: string;

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'in-root-'));
  root = join(outside, 'root');
  await mkdir(join(root, 'etc'), { recursive: true });
  await mkdir(join(root, 'disk'));
  await writeFile(join(outside, 'secret'), 'outside');
  await writeFile(join(root, 'secret'), 'inside');
  await writeFile(join(root, 'disk', 'a.img'), 'image');
});
afterEach(() => rm(outside, { recursive: true }));

const read = async (path: string): Promise<string> => {
  const file = await openFileIn(root, path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
};

test.each([
  ['a plain path', '/disk/a.img', 'image'],
  ['dots and doubled slashes', 'disk//./../disk/a.img', 'image'],
  ['more .. than there are parents', '../../../../secret', 'inside'],
])('%s', async (_, path, content) => {
  expect(await read(path)).toBe(content);
});

test.each([
  ['a relative link', 'a.img', 'image'],
  ['an absolute link starts at the root', '/secret', 'inside'],
  ['a link with .. stops at the root', '../../../secret', 'inside'],
])('%s', async (_, target, content) => {
  await symlink(target, join(root, 'disk', 'link'));
  expect(await read('/disk/link')).toBe(content);
});

test('a linked directory is followed inside the root', async () => {
  await symlink('/disk', join(root, 'etc', 'images'));
  expect(await read('/etc/images/a.img')).toBe('image');
});

test('a link to a host path is missing, not the host file', async () => {
  await symlink(join(outside, 'secret'), join(root, 'disk', 'link'));
  await expect(read('/disk/link')).rejects.toMatchObject({ name: 'PathError', reason: 'missing' });
});

test('links in a circle are refused', async () => {
  await symlink('b', join(root, 'a'));
  await symlink('a', join(root, 'b'));
  await expect(read('/a')).rejects.toThrow(/too many symbolic links/);
});

test('what is not a regular file is refused, a FIFO without waiting for a writer', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')]);
  await expect(read('/pipe')).rejects.toMatchObject({ reason: 'wrongKind' });
  await expect(read('/disk')).rejects.toMatchObject({ reason: 'wrongKind' });
  await expect(read('/disk/a.img/b')).rejects.toMatchObject({ reason: 'missing' });
  await expect(openDirectoryIn(root, '/secret')).rejects.toMatchObject({ reason: 'wrongKind' });
});

test('a file is created only where nothing stands, a link included', async () => {
  const directory = await openDirectoryIn(root, '/disk');
  try {
    await symlink(join(outside, 'new'), join(root, 'disk', 'trap'));
    await expect(createFileIn(directory, 'trap', 0o600)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(() => createFileIn(directory, '../up', 0o600)).toThrow(/not a file name/);
    const file = await createFileIn(directory, 'new', 0o600);
    await file.writeFile('x');
    await file.close();
    expect(await readFile(join(root, 'disk', 'new'), 'utf8')).toBe('x');
  } finally {
    await directory.close();
  }
});
