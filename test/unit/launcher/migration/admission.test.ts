import { expect, test } from '@jest/globals';
import { blank, obstacleTo } from '../../../../launcher/migration/admission.ts';
import type { SourceRecord } from '../../../../launcher/migration/record.ts';

const failed: SourceRecord = {
  ...blank,
  outcome: { kind: 'sourceActive', cause: 'failed', message: 'the link broke' },
};

test.each([
  { what: 'runs', state: 1, reason: 1, known: {}, expected: undefined },
  { what: 'paused by a user', state: 3, reason: 1, known: {}, expected: undefined },
  { what: 'disk full', state: 3, reason: 5, known: {}, expected: 'the guest is paused, and not by a user' },
  { what: 'panicked', state: 6, reason: 1, known: {}, expected: 'the guest does not run' },
  { what: 'going down', state: 4, reason: 1, known: {}, expected: 'the guest does not run' },
  {
    what: 'told to stop',
    state: 1,
    reason: 1,
    known: { shutdownDeadline: 1 },
    expected: 'the guest is being shut down',
  },
  { what: 'leaving', state: 1, reason: 1, known: { migrations: { m: blank } }, expected: 'migration m is under way' },
  {
    ...{ what: 'not quite back', state: 1, reason: 1, known: { migrations: { m: failed } } },
    expected: 'the guest is still being taken back from migration m',
  },
  {
    ...{ what: 'back', state: 1, reason: 1, known: { migrations: { m: { ...failed, settled: true } } } },
    expected: undefined,
  },
])('$what: $expected', ({ state, reason, known, expected }) => {
  expect(obstacleTo({ state, reason }, known)).toBe(expected);
});
