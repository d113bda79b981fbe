import { expect, test } from '@jest/globals';
import { reportOf } from '../../../../workflows/instance/report.ts';
import type { InstanceEvent } from '../../../../workflows/instance/state.ts';
import { adoptedAs, after, domain, pod } from './facts.ts';

const START = 'vmi-start/u1/1';
const podRef = { name: 'p1', uid: 'p1', node: 'n1' };
const progress = (phase: string, more = {}): InstanceEvent => ({
  type: 'operationProgress',
  progress: { ...{ operationId: START, kind: 'start', phase, pod: podRef, epoch: 1 }, ...more },
});
const trouble = { trouble: { step: 'SyncInstance', failure: { type: 'LauncherUnreachable', message: 'why' } } };
const ready: InstanceEvent = { type: 'podObserved', facts: pod({ phase: 'Running' }) };
const runs: InstanceEvent = { type: 'domainReported', report: domain('running') };
const begun = [...adoptedAs(), progress('Scheduling')];
/** What the start is told in answer to the last of these events. */
const told = (...events: InstanceEvent[]): string[] =>
  after(...events).commands.flatMap((command) =>
    command.type === 'forward' && command.id === START ? [command.message.signal] : [],
  );

test('a start that goes well is not told so: its node worker answers it', () => {
  expect(told(...begun, ready)).toEqual([]);
  expect(told(...begun, ready, runs)).toEqual([]);
});

test('what goes wrong with its Pod or its domain is always told', () => {
  const waiting = { container: 'compute', reason: 'ErrImagePull', message: 'no such image' };
  for (const change of [{ waiting }, { deleting: true }, { gone: true }, { phase: 'Failed' as const }])
    expect(told(...begun, { type: 'podObserved', facts: pod({ phase: 'Running', ...change }) })).toEqual([
      'podChanged',
    ]);
  expect(told(...begun, { type: 'domainReported', report: domain('shutoff') })).toEqual(['domainChanged']);
});

test('a start that does not know its Pod’s node waits for that, and is told', () => {
  const unplaced = [...adoptedAs(), progress('Scheduling', { pod: { name: 'p1', uid: 'p1' } })];
  expect(told(...unplaced, ready)).toEqual(['podChanged']);
});

test.each([
  ['has trouble', progress('Scheduling', trouble)],
  ['has come to its guest, which does not run yet', progress('Starting')],
])('a start that %s is told what it was not told, once, and what comes', (_, waits) => {
  expect(told(...begun, ready, runs, waits)).toEqual(['podChanged', 'domainChanged']);
  expect(told(...begun, ready, waits, progress('Scheduling'))).toEqual([]);
  expect(told(...begun, waits, ready)).toEqual(['podChanged']);
  expect(told(...begun, waits, runs)).toEqual(['domainChanged']);
});

test('the VMI is Scheduled as soon as its placed Pod’s containers run, whichever is heard first', () => {
  const phase = (...events: InstanceEvent[]): string => reportOf(after(...events).state).phase;
  expect(phase(...begun)).toBe('Scheduling');
  expect(phase(...begun, ready)).toBe('Scheduled');
  expect(phase(...adoptedAs(), ready, progress('Scheduling'))).toBe('Scheduled');
});
