import { expect, test } from '@jest/globals';
import type { MigrationOptions } from '../../../../api/launcher/migration.ts';
import { MigrateFlag } from '../../../../launcher/libvirt/client.ts';
import type { SourceRecord } from '../../../../launcher/migration/record.ts';
import { migrateCall } from '../../../../launcher/migration/start.ts';
import type { MigrateCall } from '../../../../launcher/migration/start.ts';

const call = (
  changes: Partial<MigrationOptions> = {},
  mode: SourceRecord['mode'] = 'PreCopy',
  disks: string[] = [],
): MigrateCall =>
  migrateCall(
    {
      role: 'source',
      options: {
        completionTimeoutPerGiB: 150,
        progressTimeout: 150,
        allowAutoConverge: false,
        allowPostCopy: false,
        allowWorkloadDisruption: false,
        unsafe: false,
        ...changes,
      },
      targetCpus: [],
      guestPaused: false,
      mode,
      switched: false,
      postCopy: false,
      settled: false,
    },
    "<domain><disk type='file' device='disk'><source file='/claim'/><target dev='vdz'/></disk></domain>",
    disks.map((target) => ({ target, volume: target, file: target })),
  );
const has = ({ flags }: MigrateCall, flag: number): boolean => (flags & flag) !== 0;
const values = ({ parameters }: MigrateCall, name: string): unknown[] =>
  parameters.filter((parameter) => parameter.name === name).map(({ value }) => value);

test('the guest never starts by itself in the target, but for post-copy', () => {
  expect(has(call({ allowPostCopy: true }), MigrateFlag.paused)).toBe(true);
  expect(has(call({ allowPostCopy: true }), MigrateFlag.postCopy)).toBe(false);
  expect(has(call({}, 'PostCopy'), MigrateFlag.paused)).toBe(false);
  expect(has(call({}, 'PostCopy'), MigrateFlag.postCopy)).toBe(true);
});

test.each([
  { what: 'auto-converge', changes: { allowAutoConverge: true }, flag: MigrateFlag.autoConverge },
  { what: 'unsafe', changes: { unsafe: true }, flag: MigrateFlag.unsafe },
])('$what only on request', ({ changes, flag }) => {
  expect(has(call(changes), flag)).toBe(true);
  expect(has(call(), flag)).toBe(false);
});

test('bandwidth in MiB per second, never none by rounding; disks to copy', () => {
  expect(values(call({ bandwidth: 64 * 1024 * 1024 }), 'bandwidth')).toEqual([64n]);
  expect(values(call({ bandwidth: 1 }), 'bandwidth')).toEqual([1n]);
  expect(values(call({ bandwidth: 0 }), 'bandwidth')).toEqual([]);
  expect(values(call({}, 'PreCopy', ['vda', 'vdb']), 'migrate_disks')).toEqual(['vda', 'vdb']);
  expect(has(call({}, 'PreCopy', ['vda']), MigrateFlag.nonSharedIncremental)).toBe(true);
  expect(has(call(), MigrateFlag.nonSharedIncremental)).toBe(false);
  expect(values(call(), 'disks_uri')).toEqual([]);
});
