import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Session } from '../../../../../activities/node/migration-proxy/port.ts';
import { sessionStore } from '../../../../../activities/node/migration-proxy/store.ts';

let base: string;
let directory: string;
let warned: unknown[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 's-'));
  directory = join(base, 'migrations');
  warned = [];
});
afterEach(() => rm(base, { recursive: true }));

const store = (): ReturnType<typeof sessionStore> =>
  sessionStore(directory, { warn: (...args: unknown[]) => void warned.push(args) });

const common = { vmi: { namespace: 'default', name: 'vm', uid: 'vmi-uid' }, pod: { name: 'launcher', uid: 'pod-uid' } };
const target: Session = {
  ...common,
  role: 'target',
  migrationUid: 'mig-1',
  sourceNode: 'node-a',
  sockets: { libvirt: '/l', memory: '/m', block: '/b' },
};
const source: Session = {
  ...common,
  role: 'source',
  migrationUid: 'mig-2',
  target: { node: 'node-b', address: '10.0.0.2', port: 9810 },
};

test('what one worker saved, the next one finds', async () => {
  await store().save(target);
  await store().save(source);
  expect(await store().load()).toEqual([target, source]);
  await store().remove(target.migrationUid);
  expect(await store().load()).toEqual([source]);
});

test('a session saved again replaces the first, and a removal can be repeated', async () => {
  await store().save(target);
  const moved = { ...target, sourceNode: 'node-c' };
  await store().save(moved);
  expect(await store().load()).toEqual([moved]);
  await store().remove('mig-1');
  await store().remove('mig-1');
  expect(await store().load()).toEqual([]);
});

test('no directory: no sessions', async () => {
  expect(await store().load()).toEqual([]);
});

test('only root may read them', async () => {
  await store().save(target);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'mig-1.json'))).mode & 0o777).toBe(0o600);
});

test.each([
  ['no JSON', 'garbage'],
  ['another shape', '{"role":"target"}'],
  ['another role', JSON.stringify({ ...target, role: 'witness' })],
])('a file with %s is told of and removed; the others count', async (_, content) => {
  await store().save(source);
  await writeFile(join(directory, 'broken.json'), content);
  expect(await store().load()).toEqual([source]);
  expect(warned).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['mig-2.json']);
});

test('what a worker left half-written does not count', async () => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'mig-1.json.partial'), JSON.stringify(target));
  expect(await store().load()).toEqual([]);
});

test('a uid that leads elsewhere is refused', async () => {
  await expect(store().save({ ...target, migrationUid: '../evil' })).rejects.toThrow();
  expect(() => store().remove('../evil')).toThrow();
});

test('a file is never seen half-written', async () => {
  await store().save(target);
  expect(JSON.parse(await readFile(join(directory, 'mig-1.json'), 'utf8'))).toEqual(target);
  expect(await readdir(directory)).toEqual(['mig-1.json']);
});
