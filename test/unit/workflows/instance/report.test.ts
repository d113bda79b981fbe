import { expect, test } from '@jest/globals';
import type { InstanceEvent } from '../../../../workflows/instance/state.ts';
import { reportKey, reportOf } from '../../../../workflows/instance/report.ts';
import { adoptedAs, after, domain, pod, running } from './facts.ts';

const progress = (phase: string, more = {}): InstanceEvent => ({
  type: 'operationProgress',
  progress: { ...{ operationId: 'vmi-start/u1/1', kind: 'start', phase }, ...more },
});
const podRef = { name: 'p1', uid: 'p1', node: 'n1' };
const waits = (type: 'VolumeNotFound' | 'VolumeNotReady' | 'QuotaExceeded' | 'TokenHeld' | 'PodNotReady') => ({
  trouble: { step: 'x', failure: { type, message: 'why' } },
});
const conditions = (...events: InstanceEvent[]) =>
  reportOf(after(...events).state).conditions.map(
    ({ type, status, reason }) => `${type}=${status}${reason === undefined ? '' : ` ${reason}`}`,
  );

test.each<[string, InstanceEvent[], string[]]>([
  ['nothing yet', [], ['Ready=False PodNotExists']],
  [
    'a missing PVC',
    [progress('Pending', waits('VolumeNotFound'))],
    ['Ready=False PodNotExists', 'Synchronized=False FailedPvcNotFound'],
  ],
  [
    'an unbound PVC',
    [progress('Pending', waits('VolumeNotReady'))],
    ['Ready=False PodNotExists', 'Synchronized=False VolumeNotReady', 'Provisioning=True VolumeNotReady'],
  ],
  [
    'a quota',
    [progress('Pending', waits('QuotaExceeded'))],
    ['Ready=False PodNotExists', 'Synchronized=False FailedCreate'],
  ],
  [
    'a token held by another',
    [progress('Pending', waits('TokenHeld'))],
    ['Ready=False PodNotExists', 'Synchronized=False TokenHeld'],
  ],
  [
    'a Pod that cannot be scheduled',
    [
      progress('Scheduling', { pod: podRef, ...waits('PodNotReady') }),
      { type: 'podObserved', facts: pod({ unschedulable: { reason: 'Unschedulable', message: 'no room' } }) },
    ],
    ['Ready=False GuestNotRunning', 'PodScheduled=False Unschedulable'],
  ],
  [
    'an image that cannot be pulled, told before the Pod was known',
    [
      { type: 'podObserved', facts: pod({ waiting: { container: 'compute', reason: 'ErrImagePull', message: 'x' } }) },
      progress('Scheduling', { pod: podRef, ...waits('PodNotReady') }),
    ],
    ['Ready=False GuestNotRunning', 'PodScheduled=True', 'Synchronized=False ErrImagePull'],
  ],
])('while it starts: %s', (_, events, expected) => {
  expect(conditions(...adoptedAs(), ...events)).toEqual(expected);
});

test.each<[string, InstanceEvent[], string[]]>([
  ['it is ready', [], ['Ready=True']],
  [
    'its agent is connected',
    [{ type: 'domainReported', report: domain('running', { agent: { connected: true } }) }],
    ['Ready=True', 'AgentConnected=True'],
  ],
  [
    'it is paused',
    [{ type: 'domainReported', report: domain('paused') }],
    ['Ready=False GuestNotRunning', 'Paused=True PausedByUser'],
  ],
  [
    'its Pod terminates',
    [{ type: 'podObserved', facts: pod({ deleting: true }) }],
    ['Ready=False PodTerminating', 'PodScheduled=True'],
  ],
])('while it runs: %s', (_, events, expected) => {
  expect(conditions(...running, ...events)).toEqual(expected);
});

test('a start is told in three reports: Scheduling, Scheduled, Running', () => {
  const events: InstanceEvent[] = [
    progress('Scheduling', { pod: { name: 'p1', uid: 'p1' } }),
    { type: 'podObserved', facts: pod({ computeReady: false, phase: 'Pending' }) },
    { type: 'podObserved', facts: pod() },
    progress('Scheduling', { pod: podRef }),
    progress('Scheduled', { pod: podRef, epoch: 1 }),
    { type: 'domainReported', report: domain('starting') },
    progress('Running', { pod: podRef, epoch: 1 }),
  ];
  const keys = events.map((_, index) =>
    reportKey(reportOf(after(...adoptedAs(), ...events.slice(0, index + 1)).state)),
  );
  expect(new Set(keys).size).toBe(3);
});

test('the guest runs as soon as its launcher says so; the end of its start says nothing new', () => {
  const begun = [...adoptedAs(), progress('Scheduled', { pod: podRef, epoch: 1 })];
  const runs: InstanceEvent = { type: 'domainReported', report: domain('running') };
  const [told, ended] = [after(...begun, runs), after(...begun, runs, progress('Running', { pod: podRef, epoch: 1 }))];
  expect(told.state.phase).toBe('Running');
  expect(reportKey(reportOf(ended.state))).toBe(reportKey(reportOf(told.state)));
  const paused: InstanceEvent = { type: 'domainReported', report: domain('paused') };
  expect(after(...begun, paused).state.phase).toBe('Scheduled');
});

test('a report that differs in its running number only is not written again', () => {
  const key = (n: number): string =>
    reportKey(
      reportOf(
        after(...running, { type: 'domainReported', report: domain('running', { sequence: { epoch: 1, n } }) }).state,
      ),
    );
  expect(key(5)).toBe(key(6));
});
