import { describe, expect, test } from '@jest/globals';
import type { InstanceEvent } from '../../../../workflows/instance/state.ts';
import { decide } from '../../../../workflows/instance/decide.ts';
import { isOver } from '../../../../workflows/instance/state.ts';
import { adoptedAs, after, at, domain, found, heldToken, instance, pod, running, seen, vmi, words } from './facts.ts';

const deleted: InstanceEvent = { type: 'instanceObserved', facts: instance({ deleting: true, resourceVersion: '2' }) };
const gone: InstanceEvent = { type: 'instanceObserved', facts: instance({ deleting: true, gone: true }) };
const finished = (
  kind: 'start' | 'shutdown',
  outcome: 'succeeded' | 'failed' | 'cancelled',
  more = {},
): InstanceEvent => ({
  type: 'operationFinished',
  finished: { operationId: `vmi-${kind}/u1/1`, kind, outcome, ...more },
});
const failure = { type: 'DomainFailed', message: 'no memory' } as const;
const podRef = { name: 'p1', uid: 'p1', node: 'n1' };

test('the world is looked at before anything else', () => {
  expect(words(after(seen).commands)).toEqual(['adopt']);
});

test('nothing is commanded while it is looked at', () => {
  expect(after(seen, deleted).commands).toEqual([]);
});

const { node: _, ...noNode } = pod({ computeReady: false, phase: 'Pending' });

describe('what is made of the world', () => {
  test.each([
    ['nothing there', {}, 'begin vmi-start/u1/1'],
    ['a running domain', { pods: [pod()], token: heldToken, domains: { p1: domain('running') } }, undefined],
    ['a paused domain', { pods: [pod()], token: heldToken, domains: { p1: domain('paused') } }, undefined],
    [
      'a domain that has ended',
      { pods: [pod()], token: heldToken, domains: { p1: domain('shutoff', { end: 'guestShutdown' }) } },
      'begin vmi-shutdown/u1/1 guestStopped',
    ],
    [
      'a Pod without a domain',
      { pods: [pod()], token: heldToken, domains: { p1: domain('none') } },
      'begin vmi-shutdown/u1/1 startCancelled',
    ],
    ['a Pod without a node', { pods: [noNode] }, 'begin vmi-shutdown/u1/1 startCancelled'],
    [
      'a Pod that is not ready as its kubelet says, and does not answer',
      { pods: [pod({ computeReady: false })] },
      undefined,
    ],
    [
      'a Running VMI whose launcher does not answer',
      { instance: instance({ phase: 'Running' }), pods: [pod()], token: heldToken },
      undefined,
    ],
    [
      'a launcher that does not answer, nobody knows why',
      { instance: instance({ phase: 'Scheduled' }), pods: [pod()], token: heldToken },
      undefined,
    ],
    [
      'a Running VMI whose Pod is gone and holds the token',
      { instance: instance({ phase: 'Running' }), token: heldToken },
      'begin vmi-shutdown/u1/1 podDeleted',
    ],
    [
      'a Pending VMI whose Pod is gone and holds the token',
      { token: heldToken },
      'begin vmi-shutdown/u1/1 startCancelled',
    ],
    [
      'a start that still runs',
      { pods: [pod()], domains: {}, operation: { id: 'vmi-start/u1/2', kind: 'start', attempt: 2 } as const },
      'forward ping',
    ],
    [
      'a deleted VMI with a running domain',
      { instance: instance({ deleting: true }), pods: [pod()], token: heldToken, domains: { p1: domain('running') } },
      'begin vmi-shutdown/u1/1 deleted',
    ],
    ['a deleted VMI and nothing else', { instance: instance({ deleting: true }) }, 'release'],
    ['a final VMI', { instance: instance({ phase: 'Succeeded' }) }, undefined],
    ['a final, deleted VMI', { instance: instance({ phase: 'Failed', deleting: true }) }, 'release'],
    [
      'no VMI any more, its guest running',
      { instance: undefined, pods: [pod()], token: heldToken, domains: { p1: domain('running') } },
      'begin vmi-shutdown/u1/1 deleted',
    ],
  ])('%s', (_, world, command) => {
    const { instance: there, ...rest } = { instance: instance(), ...world };
    const { commands } = after(seen, {
      type: 'adopted',
      found: { ...found(rest), ...(there === undefined ? {} : { instance: there }) },
    });
    const without =
      there === undefined
        ? after(seen, { type: 'adopted', found: { pods: [], domains: {}, ...rest } }).commands
        : commands;
    expect(words(without)).toEqual(command === undefined ? [] : [command]);
  });

  test('a running domain is taken over with its Pod and epoch, whatever its VMI says', () => {
    const { state } = after(...adoptedAs({ pods: [pod()], token: heldToken, domains: { p1: domain('running') } }));
    expect(state).toMatchObject({ started: true, pod: podRef, epoch: 3 });
  });

  test('the next start has an attempt beyond all that left something', () => {
    const { state } = after(...adoptedAs({ token: { epoch: 7, holder: { vmiUid: vmi.uid, attempt: 4 } } }));
    expect(state.operation?.id).toBe('vmi-start/u1/5');
  });

  test('a VMI that ran and has neither Pod nor token is Failed', () => {
    expect(after(...adoptedAs({ instance: instance({ phase: 'Running' }) })).state).toMatchObject({
      phase: 'Failed',
      end: 'unknown',
    });
  });

  test('a launcher that never answers is asked a few times, then its Pod is shut down', () => {
    const silent = { instance: instance({ phase: 'Scheduled' }), pods: [pod()], token: heldToken };
    const events = Array.from({ length: 6 }, (): InstanceEvent[] => [
      { type: 'adopted', found: found(silent) },
      { type: 'timerFired' },
    ]);
    const run = after(seen, ...events.flat());
    expect(run.state.operation?.id ?? words(run.commands)).toBeDefined();
  });
});

describe('while a guest runs', () => {
  test.each<[string, InstanceEvent, string[]]>([
    ['its VMI is deleted', deleted, ['begin vmi-shutdown/u1/1 deleted']],
    ['its VMI is gone by force', gone, ['begin vmi-shutdown/u1/1 deleted']],
    [
      'it shuts down by itself',
      { type: 'domainReported', report: domain('shutoff', { end: 'guestShutdown' }) },
      ['begin vmi-shutdown/u1/1 guestStopped'],
    ],
    ['it crashes', { type: 'domainReported', report: domain('crashed') }, ['begin vmi-shutdown/u1/1 guestStopped']],
    [
      'its Pod is deleted',
      { type: 'podObserved', facts: pod({ deleting: true }) },
      ['begin vmi-shutdown/u1/1 podDeleted'],
    ],
    [
      'its Pod ends',
      { type: 'podObserved', facts: pod({ phase: 'Failed', provenEnded: true }) },
      ['begin vmi-shutdown/u1/1 guestStopped'],
    ],
    ['another Pod ends', { type: 'podObserved', facts: pod({ uid: 'p2', phase: 'Failed' }) }, []],
    ['another Pod reports a crash', { type: 'domainReported', report: domain('crashed', { podUid: 'p2' }) }, []],
    ['it is paused', { type: 'domainReported', report: domain('paused') }, []],
    ['a PVC changes', { type: 'dependencyChanged', kind: 'PersistentVolumeClaim', name: 'x' }, []],
    ['a retry is asked for', { type: 'retryRequested' }, []],
  ])('%s', (_, event, commands) => {
    expect(words(after(...running, event).commands)).toEqual(commands);
  });

  test('an older report than the newest is passed over', () => {
    const newer = domain('running', { sequence: { epoch: 2, n: 1 } });
    const events: InstanceEvent[] = [
      { type: 'domainReported', report: newer },
      { type: 'domainReported', report: domain('crashed', { sequence: { epoch: 1, n: 9 } }) },
    ];
    expect(after(...running, ...events).commands).toEqual([]);
  });

  test('the deadline is a grace period from now, even if the deletion was seen late', () => {
    const { commands } = after(...running, deleted);
    expect(commands[0]).toMatchObject({ operation: { deadline: '2026-01-01T00:00:30.000Z', epoch: 1, pod: podRef } });
  });
});

describe('while an operation runs', () => {
  test('a deletion during a start cancels it, once', () => {
    expect(words(after(...adoptedAs(), deleted).commands)).toEqual(['forward wake', 'cancel']);
    expect(words(after(...adoptedAs(), deleted, deleted).commands)).toEqual(['forward ping']);
  });

  test('what a cancelled start leaves is shut down', () => {
    const { commands } = after(
      ...adoptedAs(),
      deleted,
      finished('start', 'cancelled', { pod: podRef, epoch: 1, failure: { type: 'Cancelled', message: '' } }),
    );
    expect(words(commands)).toEqual(['begin vmi-shutdown/u1/1 startCancelled']);
  });

  test('a cancelled start that left nothing releases the VMI as Failed', () => {
    const { state, commands } = after(
      ...adoptedAs(),
      deleted,
      finished('start', 'cancelled', { failure: { type: 'Cancelled', message: '' } }),
    );
    expect(words(commands)).toEqual(['release']);
    expect(state.phase).toBe('Failed');
  });

  test('a shorter grace period brings the deadline forward; a longer one changes nothing', () => {
    const grace = (gracePeriodSeconds: number): InstanceEvent => ({
      type: 'instanceObserved',
      facts: instance({ deleting: true, gracePeriodSeconds, resourceVersion: String(gracePeriodSeconds) }),
    });
    expect(words(after(...running, deleted, grace(5)).commands)).toEqual(['forward wake', 'forward bringForward']);
    expect(words(after(...running, deleted, grace(60)).commands)).toEqual(['forward wake']);
  });

  test('an operation that is lost makes it look at the world again', () => {
    expect(words(after(...adoptedAs(), { type: 'operationLost', id: 'vmi-start/u1/1' }).commands)).toEqual(['adopt']);
    expect(after(...running, { type: 'operationLost', id: 'vmi-start/u1/1' }).commands).toEqual([]);
  });

  test('an id that is taken: one that runs is waited for, one that is over means that history was lost', () => {
    const exists = (isOpen: boolean): InstanceEvent => ({ type: 'operationExists', id: 'vmi-start/u1/1', isOpen });
    expect(after(...adoptedAs(), exists(true))).toMatchObject({
      commands: [],
      state: { operation: { id: 'vmi-start/u1/1' } },
    });
    const again = after(...adoptedAs(), exists(false), { type: 'adopted', found: found() });
    expect(words(again.commands)).toEqual(['begin vmi-start/u1/2']);
  });
});

test('an operation that was found and has told its end before is not waited for', () => {
  const world = {
    instance: instance({ phase: 'Running' }),
    pods: [pod()],
    token: heldToken,
    domains: { p1: domain('running') },
  };
  const operation = { id: 'vmi-start/u1/2', kind: 'start', attempt: 2 } as const;
  const unheard = after(...adoptedAs({ ...world, operation }), deleted);
  expect(words(unheard.commands)).toEqual(['forward wake', 'cancel']);
  const events: InstanceEvent[] = [
    ...adoptedAs({ ...world, operation }),
    deleted,
    { type: 'operationLost', id: operation.id },
  ];
  expect(words(after(...events).commands)).toEqual(['adopt']);
  const again: InstanceEvent = { type: 'adopted', found: found({ ...world, instance: instance({ deleting: true }) }) };
  expect(words(after(...events, again).commands)).toEqual(['begin vmi-shutdown/u1/1 deleted']);
});

describe('after a start failed', () => {
  const failed = [...adoptedAs(), finished('start', 'failed', { failure })];
  test('it stays as it is, with the failure', () => {
    expect(after(...failed)).toMatchObject({
      commands: [],
      state: { failed: { id: 'vmi-start/u1/1', failure }, phase: 'Pending' },
    });
  });
  test.each<[string, InstanceEvent, string[]]>([
    ['a retry begins the next attempt', { type: 'retryRequested' }, ['begin vmi-start/u1/2']],
    [
      'a change of what it may depend on does too',
      { type: 'dependencyChanged', kind: 'ResourceQuota', name: 'q' },
      ['begin vmi-start/u1/2'],
    ],
    ['a deletion releases it', deleted, ['release']],
    ['another look changes nothing', seen, []],
  ])('%s', (_, event, commands) => {
    expect(words(after(...failed, event).commands)).toEqual(commands);
  });
  test('the retry names the one that failed', () => {
    expect(after(...failed, { type: 'retryRequested' }).commands[0]).toMatchObject({
      operation: { retryOf: 'vmi-start/u1/1' },
    });
  });
  test('a spec that cannot work is not tried again because of a PVC, but because of the configuration', () => {
    const invalid = [...adoptedAs(), finished('start', 'failed', { failure: { type: 'InvalidSpec', message: '' } })];
    expect(after(...invalid, { type: 'dependencyChanged', kind: 'PersistentVolumeClaim', name: 'x' }).commands).toEqual(
      [],
    );
    expect(words(after(...invalid, { type: 'dependencyChanged', kind: 'KubeVirt', name: 'x' }).commands)).toEqual([
      'begin vmi-start/u1/2',
    ]);
  });
  test('a Pod that ended makes the VMI Failed', () => {
    const { state } = after(
      ...adoptedAs(),
      finished('start', 'failed', { failure: { type: 'PodFailed', message: '' } }),
    );
    expect(state).toMatchObject({ phase: 'Failed', end: 'neverRan' });
  });
});

describe('after a shutdown', () => {
  test.each([
    ['agentShutdown', 'Succeeded'],
    ['acpiShutdown', 'Succeeded'],
    ['guestShutdown', 'Succeeded'],
    ['destroyedAtDeadline', 'Succeeded'],
    ['killed', 'Succeeded'],
    ['crashed', 'Failed'],
    ['unknown', 'Failed'],
  ] as const)('a guest that ended by %s leaves a VMI that is %s', (end, phase) => {
    expect(after(...running, deleted, finished('shutdown', 'succeeded', { end })).state.phase).toBe(phase);
  });
  test('the finalizer goes, then the entity ends with the object', () => {
    const events = [...running, deleted, finished('shutdown', 'succeeded', { end: 'acpiShutdown' })];
    expect(words(after(...events).commands)).toEqual(['release']);
    expect(isOver(after(...events, { type: 'released' }).state)).toBe(false);
    expect(isOver(after(...events, { type: 'released' }, gone).state)).toBe(true);
  });
  test('an end that is told twice counts once, and says nothing of the next guest', () => {
    const neverRan = finished('shutdown', 'succeeded', { end: 'neverRan', pod: podRef });
    const once = after(...adoptedAs({ pods: [noNode] }), neverRan);
    expect(words(once.commands)).toEqual(['begin vmi-start/u1/1']);
    expect(decide(once.state, neverRan, at)).toEqual({ state: once.state, commands: [] });
  });
  test('that failed, the proof that was missing begins the next attempt', () => {
    const failedShutdown = finished('shutdown', 'failed', { failure, end: 'acpiShutdown', pod: podRef });
    const proof: InstanceEvent = { type: 'podObserved', facts: pod({ phase: 'Succeeded', provenEnded: true }) };
    const { commands } = after(...running, deleted, failedShutdown, proof);
    expect(commands[0]).toMatchObject({
      id: 'vmi-shutdown/u1/2',
      operation: { end: 'acpiShutdown', retryOf: 'vmi-shutdown/u1/1' },
    });
  });
});

test('times are those of the events', () => {
  // A start that nobody has said anything of was scheduled when its guest ran.
  expect(after(...running).state.phaseTimes).toEqual([
    { phase: 'Scheduled', at },
    { phase: 'Running', at },
  ]);
});
