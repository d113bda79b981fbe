import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newInstance, newMigration, newVirtualMachine } from '../../../../api/defaults/index.ts';
import type { Fresh } from '../../../../api/defaults/index.ts';
import type { Cause } from '../../../../api/validation/index.ts';
import {
  causesAgainstStart,
  readNewInstance,
  readNewMigration,
  readNewVirtualMachine,
  validateInstance,
  validateMigration,
  validateVirtualMachine,
} from '../../../../api/validation/index.ts';
import { toInstance } from '../../../../api/virtual-machine/index.ts';
import { gated } from '../../../support/instances.ts';
import { mutated } from '../../../support/mutations.ts';
import { RICH_GATES, richInstance, richMigration, richVirtualMachine } from './samples.ts';

/** BAD_INPUT_TIMES=10 tries ten times as many, for a long look. */
const MANY = Number(process.env['BAD_INPUT_TIMES'] ?? 1);

const config = gated(RICH_GATES);
const fresh: Fresh = { uuid: () => '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11', now: '2026-01-01T00:00:00Z' };

const admitted = {
  instance: (input: unknown): Cause[] => {
    const { object, causes } = readNewInstance(input);
    if (object === undefined) return causes;
    const stored = newInstance(object, config, fresh);
    causesAgainstStart(stored, config);
    return validateInstance(stored, config);
  },
  virtualMachine: (input: unknown): Cause[] => {
    const { object, causes } = readNewVirtualMachine(input);
    if (object === undefined) return causes;
    const stored = newVirtualMachine(object, config, fresh);
    newInstance(toInstance(stored), config, fresh);
    return validateVirtualMachine(stored, config);
  },
  migration: (input: unknown): Cause[] => {
    const { object, causes } = readNewMigration(input);
    if (object === undefined) return causes;
    const { object: vmi } = readNewInstance(richInstance());
    return validateMigration(newMigration(object), { vmi, migrations: [] }, config);
  },
};

test.each([
  ['instance', richInstance()],
  ['virtualMachine', richVirtualMachine()],
  ['migration', richMigration()],
] as const)('the sample is sound: %s', (kind, sample) => {
  expect(admitted[kind](sample)).toEqual([]);
});

test.each([
  ['instance', richInstance(), 400],
  ['virtualMachine', richVirtualMachine(), 300],
  ['migration', richMigration(), 300],
] as const)('%s: whatever is changed, it is judged, and a refusal names its fields', (kind, sample, numRuns) => {
  fc.assert(
    fc.property(mutated(sample), (object) => {
      for (const { field, message } of admitted[kind](object)) {
        expect(field).not.toBe('');
        expect(message).not.toMatch(/undefined|NaN|\[object/);
      }
    }),
    { numRuns: numRuns * MANY, seed: 5 },
  );
});
