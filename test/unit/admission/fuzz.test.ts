import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mutated } from '../../support/mutations.ts';
import { richInstance, richMigration, richVirtualMachine } from '../api/validation/samples.ts';
import type { End, Manifest } from './create.ts';
import { change, CREATE, isManifest } from './create.ts';
import { workableInstance, workableVirtualMachine } from './samples.ts';

/** 10,000 in all; FUZZ_TIMES=10 tries ten times as many, for a long look. */
const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1);
const SEED = Number(process.env['FUZZ_SEED'] ?? 5);

test.each([
  { kind: 'instance', of: 'everything', sample: richInstance(), runs: 2000, ends: ['refused', 'not supported yet'] },
  { kind: 'instance', of: 'what works', sample: workableInstance(), runs: 3000, ends: ['refused', 'domain'] },
  { kind: 'virtualMachine', of: 'everything', sample: richVirtualMachine(), runs: 1500, ends: ['refused'] },
  {
    kind: 'virtualMachine',
    of: 'what works',
    sample: workableVirtualMachine(),
    runs: 2000,
    ends: ['refused', 'domain'],
  },
  { kind: 'migration', of: 'everything', sample: richMigration(), runs: 1500, ends: ['refused'] },
] as const)(
  '$runs times $kind with $of, changed: nothing fails but by a refusal that names a field',
  async ({ kind, sample, runs, ends }) => {
    const counted = new Map<End, number>();
    await fc.assert(
      fc.asyncProperty(mutated(sample), async (object) => {
        // The API server passes on objects with metadata only.
        const whole = { ...(isManifest(object) ? object : {}) };
        const metadata = isManifest(whole['metadata']) ? whole['metadata'] : {};
        const end = await CREATE[kind]({ ...whole, metadata: { ...metadata, name: 'web', namespace: 'shop' } });
        counted.set(end, (counted.get(end) ?? 0) + 1);
      }),
      { numRuns: runs * TIMES, seed: SEED },
    );
    // Most of the ends are met, or the changes would prove little.
    for (const end of ends) expect({ end, met: (counted.get(end) ?? 0) > runs / 20 }).toEqual({ end, met: true });
    if (process.env['FUZZ_TIMES'] !== undefined) console.info(kind, Object.fromEntries(counted));
  },
  60_000 * TIMES,
);

test.each([
  { plural: 'virtualmachineinstances', sample: richInstance() },
  { plural: 'virtualmachines', sample: richVirtualMachine() },
  { plural: 'virtualmachineinstancemigrations', sample: richMigration() },
])(
  'objects of $plural that were stored while nobody looked: every change of them is judged',
  async ({ plural, sample }) => {
    const whole = (object: unknown): Manifest => ({ ...(isManifest(object) ? object : {}), metadata: { name: 'web' } });
    await fc.assert(
      fc.asyncProperty(mutated(sample), mutated(sample), async (after, before) => {
        await change(plural, whole(after), whole(before));
      }),
      { numRuns: 300 * TIMES, seed: SEED },
    );
  },
  60_000 * TIMES,
);
