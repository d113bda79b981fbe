import { expect, test } from '@jest/globals';
import type { InstanceEvent } from '../../../../workflows/instance/state.ts';
import { reportKey, reportOf } from '../../../../workflows/instance/report.ts';
import { adoptedAs, after, domain, instance, pod, running } from './facts.ts';

const progress = (phase: string, more = {}): InstanceEvent => ({
  type: 'operationProgress',
  progress: { ...{ operationId: 'vmi-start/u1/1', kind: 'start', phase }, ...more },
});
const podRef = { name: 'p1', uid: 'p1', node: 'n1' };
const waits = (
  type: 'VolumeNotFound' | 'VolumeNotReady' | 'NetworkNotFound' | 'QuotaExceeded' | 'TokenHeld' | 'PodNotReady',
) => ({
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
    ['Ready=False PodNotExists', 'PodScheduled=False Unschedulable', 'Synchronized=False FailedPvcNotFound'],
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
    'a missing network',
    [progress('Pending', waits('NetworkNotFound'))],
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
    ['Ready=False GuestNotRunning', 'Synchronized=False ErrImagePull'],
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
    'its agent lacks commands',
    [
      {
        type: 'domainReported',
        report: domain('running', { agent: { connected: true, missingCommands: ['guest-get-users'] } }),
      },
    ],
    [
      'Ready=True',
      'AgentConnected=True',
      "AgentVersionNotSupported=True This guest agent doesn't support required basic commands",
    ],
  ],
  [
    'it is paused',
    [{ type: 'domainReported', report: domain('paused') }],
    ['Ready=False GuestNotRunning', 'Paused=True PausedByUser'],
  ],
  ['its Pod terminates', [{ type: 'podObserved', facts: pod({ deleting: true }) }], ['Ready=False PodTerminating']],
  [
    'the probe of its user waits for it',
    [{ type: 'podObserved', facts: pod({ unready: { reason: 'ContainersNotReady', message: 'probe' } }) }],
    ['Ready=False ContainersNotReady'],
  ],
  [
    'its storage has failed',
    [{ type: 'domainReported', report: domain('paused', { pausedBy: 'ioError' }) }],
    ['Ready=False GuestNotRunning', 'Paused=True PausedIOError'],
  ],
  [
    'a migration that gives the guest a rest',
    [{ type: 'domainReported', report: domain('paused', { pausedBy: 'migration' }) }],
    ['Ready=False GuestNotRunning', 'Paused=True PausedByMigrationMonitor'],
  ],
  [
    'it is asked to leave its node',
    [{ type: 'instanceObserved', facts: instance({ evacuationNode: 'n1' }) }],
    ['Ready=True', 'EvictionRequested=True EvictionRequested'],
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

test.each([
  ['running', {}, { p1: 'n1' }],
  ['terminating', { deleting: true }, { p1: 'n1' }],
  ['proven to have ended', { provenEnded: true, phase: 'Failed' as const }, {}],
  ['over, whatever is left of it', { phase: 'Succeeded' as const }, {}],
  ['gone', { gone: true }, {}],
])('activePods counts a Pod that lives: one that is %s', (_, facts, expected) => {
  const { state } = after(...running, { type: 'podObserved', facts: pod(facts) });
  expect(reportOf(state).activePods).toEqual(expected);
});

test('the image of its launcher is told', () => {
  const { state } = after(...running, { type: 'podObserved', facts: pod({ image: 'launcher:1' }) });
  expect(reportOf(state).launcherImage).toBe('launcher:1');
});

test('a DataVolume that has failed ends the instance', () => {
  const failure = { type: 'VolumeFailed', message: 'no' } as const;
  const { state } = after(...adoptedAs(), {
    type: 'operationFinished',
    finished: { operationId: 'vmi-start/u1/1', kind: 'start', outcome: 'failed', failure },
  });
  expect([state.phase, state.end]).toEqual(['Failed', 'neverRan']);
});
