import { expect, test } from '@jest/globals';
import { migrationRecords, movesOf } from '../../../../launcher/migration/record.ts';
import type { MigrationRecords } from '../../../../launcher/migration/record.ts';

const source = {
  role: 'source' as const,
  options: {
    completionTimeoutPerGiB: 150,
    progressTimeout: 150,
    allowAutoConverge: false,
    allowPostCopy: false,
    allowWorkloadDisruption: false,
    unsafe: false,
  },
  targetCpus: [],
  guestPaused: false,
  mode: 'PreCopy' as const,
  switched: false,
  postCopy: false,
  settled: false,
};
const target = { role: 'target' as const, resumed: false, finalized: false, abandoned: false };
const stayed = { kind: 'sourceActive' as const, cause: 'aborted' as const, message: '' };

test.each<{ what: string; records: MigrationRecords; expected: object }>([
  { what: 'none', records: {}, expected: {} },
  { what: 'coming in', records: { m: target }, expected: { incoming: 'm' } },
  { what: 'given up: never to run here', records: { m: { ...target, abandoned: true } }, expected: { incoming: 'm' } },
  { what: 'came in', records: { m: { ...target, resumed: true } }, expected: { brought: 'm' } },
  { what: 'leaving', records: { m: source }, expected: { leaving: 'm', pausedToConverge: false } },
  {
    what: 'leaving, paused for it',
    records: { m: { ...source, mode: 'Paused' } },
    expected: { leaving: 'm', pausedToConverge: true },
  },
  { what: 'stays', records: { m: { ...source, outcome: stayed } }, expected: { returning: 'm' } },
  { what: 'stayed', records: { m: { ...source, outcome: stayed, settled: true } }, expected: {} },
  { what: 'left', records: { m: { ...source, outcome: { kind: 'sourceGone' } } }, expected: { left: 'm' } },
  {
    what: 'came in, stayed once, left',
    records: {
      a: { ...target, resumed: true },
      b: { ...source, outcome: stayed, settled: true },
      c: { ...source, outcome: { kind: 'sourceGone' } },
    },
    expected: { brought: 'a', left: 'c' },
  },
])('$what', ({ records, expected }) => {
  expect(movesOf(records)).toEqual(expected);
  expect(migrationRecords.parse(JSON.parse(JSON.stringify(records)))).toEqual(records);
});
