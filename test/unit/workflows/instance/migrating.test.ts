import { describe, expect, test } from '@jest/globals';
import type { MigrationPhase, MigrationReport } from '../../../../api/contract/migrations.ts';
import type { DomainReport } from '../../../../api/launcher/reports.ts';
import { reportKey, reportOf } from '../../../../workflows/instance/report.ts';
import type { InstanceCommand, InstanceEvent } from '../../../../workflows/instance/state.ts';
import { isOver } from '../../../../workflows/instance/state.ts';
import { adoptedAs, after, domain, found, heldToken, instance, pod, running, seen, words } from './facts.ts';

const migration = { namespace: 'default', name: 'mig-1', uid: 'm1' };
const id = 'migration/default/mig-1/m1';
const target = { name: 't1', uid: 't1', node: 'n2' };
const targetFacts = pod({ name: 't1', uid: 't1', node: 'n2', migration: { name: 'mig-1', uid: 'm1' } });
const deleted: InstanceEvent = { type: 'instanceObserved', facts: instance({ deleting: true, resourceVersion: '2' }) };
const proposed = (operationId = id): InstanceEvent => ({
  type: 'migrationProposed',
  proposal: { operationId, migration: { ...migration, uid: operationId.split('/').at(-1) ?? '' } },
});
const says = (report: DomainReport): InstanceEvent => ({ type: 'domainReported', report });
const ofTarget = (change: Partial<DomainReport> = {}): DomainReport =>
  domain('running', { podUid: 't1', node: 'n2', ...change });
const report = (phase: MigrationPhase, change: Partial<MigrationReport> = {}): MigrationReport => ({
  ...{ migration, phase, phaseTimes: [], source: { name: 'p1', uid: 'p1', node: 'n1' }, target, ...change },
});
const progress = (phase: MigrationPhase, change: Partial<MigrationReport> = {}, more = {}): InstanceEvent => ({
  type: 'operationProgress',
  progress: { operationId: id, kind: 'migrate', phase, migration: report(phase, change), ...more },
});
const moved = { pod: target, epoch: 2 };
const succeeded: InstanceEvent = {
  type: 'operationFinished',
  finished: { operationId: id, kind: 'migrate', outcome: 'succeeded', ...moved, migration: report('Succeeded') },
};
const failed = (outcome: 'failed' | 'cancelled' = 'failed', more = {}): InstanceEvent => ({
  type: 'operationFinished',
  finished: {
    ...{ operationId: id, kind: 'migrate', outcome, migration: report('Failed') },
    ...{ failure: { type: 'MigrationFailed', message: 'no' }, ...more },
  },
});
const migrating = [...running, proposed()];
const refusal = (commands: InstanceCommand[]): string | undefined =>
  commands.flatMap((command) =>
    command.type === 'answer' && !command.answer.accepted ? [command.answer.failure.message] : [],
  )[0];

describe('a migration is accepted', () => {
  test('while the guest runs, with the Pod that it leaves and the epoch', () => {
    const { state, commands } = after(...migrating);
    expect(commands).toEqual([
      { type: 'answer', id, answer: { accepted: true, source: { name: 'p1', uid: 'p1', node: 'n1' }, epoch: 1 } },
    ]);
    expect(state.operation).toMatchObject({ id, kind: 'migrate', migration });
  });
  test('while a user has paused it', () => {
    expect(words(after(...running, says(domain('paused', { pausedBy: 'user' })), proposed()).commands)).toEqual([
      'accept',
    ]);
  });
  test('again when it asks again', () => {
    expect(words(after(...migrating, proposed()).commands)).toEqual(['accept']);
  });
  test('only after the world was looked at', () => {
    expect(words(after(seen, proposed()).commands)).toEqual([]);
    const world = { pods: [pod()], token: heldToken, domains: { p1: domain('running') } };
    const there = found({ ...world, instance: instance({ phase: 'Running' }) });
    expect(words(after(seen, proposed(), { type: 'adopted', found: there }).commands)).toEqual(['accept']);
  });
});

test('while a migration that has moved the guest clears up, the next one waits, and is accepted then', () => {
  const other = 'migration/default/mig-2/m2';
  const asked = [...migrating, progress('Running'), progress('Succeeded', {}, moved), proposed(other), proposed(other)];
  expect(words(after(...asked).commands)).toEqual([]);
  const { state, commands } = after(...asked, succeeded);
  expect(words(commands)).toEqual(['accept']);
  expect(state.operation).toMatchObject({ id: other, kind: 'migrate' });
  expect(state.proposals).toEqual([]);
});

const waits: InstanceEvent = {
  type: 'operationProgress',
  progress: {
    ...{ operationId: 'vmi-start/u1/1', kind: 'start', phase: 'Pending' },
    trouble: { step: 'CheckVolumes', failure: { type: 'VolumeNotFound', message: 'no claim' } },
  },
};

test('a migration that asks while a start goes well is answered when that is over', () => {
  expect(after(...adoptedAs(), proposed()).commands).toEqual([]);
  const [ended] = running.slice(-1);
  if (ended === undefined) throw new Error('it does not run');
  expect(words(after(...adoptedAs(), proposed(), ended).commands)).toEqual(['accept']);
  expect(words(after(...adoptedAs(), proposed(), waits).commands)).toEqual(['refuse OperationUnderWay']);
});

describe('a migration is refused', () => {
  test.each<[string, InstanceEvent[], string, RegExp]>([
    ['while the VMI’s start waits', [...adoptedAs(), waits], 'OperationUnderWay', /vmi-start\/u1\/1 is under way/],
    [
      'while another one runs',
      [...running, proposed('migration/default/mig-0/m0')],
      'OperationUnderWay',
      /mig-0\/m0 is under way/,
    ],
    ['while it is shut down', [...running, deleted], 'OperationUnderWay', /vmi-shutdown/],
    [
      'while an I/O error pauses it',
      [...running, says(domain('paused', { pausedBy: 'ioError' }))],
      'NotMigratable',
      /I\/O error/,
    ],
    [
      'while a migration pauses it',
      [...running, says(domain('paused', { pausedBy: 'migration' }))],
      'NotMigratable',
      /migration/,
    ],
    ['while its guest shuts down', [...running, says(domain('shuttingDown'))], 'NotMigratable', /shuttingDown/],
    [
      'after its start failed',
      [
        ...adoptedAs(),
        {
          type: 'operationFinished',
          finished: {
            ...{ operationId: 'vmi-start/u1/1', kind: 'start', outcome: 'failed' },
            failure: { type: 'DomainFailed', message: 'no memory' },
          },
        },
      ],
      'NotMigratable',
      /does not run/,
    ],
  ])('%s', (_, events, type, message) => {
    const { commands, state } = after(...events, proposed());
    expect(words(commands)).toEqual([`refuse ${type}`]);
    expect(refusal(commands)).toMatch(message);
    expect(state.operation?.id).not.toBe(id);
  });
});

describe('while it migrates', () => {
  test('both Pods may hold the guest once the target has a node, and news go to the migration', () => {
    const { state, commands } = after(...migrating, progress('PreparingTarget'), {
      type: 'podObserved',
      facts: targetFacts,
    });
    expect(reportOf(state)).toMatchObject({ activePods: { p1: 'n1', t1: 'n2' }, node: 'n1' });
    expect(words(commands)).toEqual(['forward podChanged']);
  });
  test('the target only informs: neither its end nor an incoming guest is the VMI’s', () => {
    const events = [
      progress('Running'),
      says(ofTarget({ state: 'incoming' })),
      says(ofTarget({ state: 'crashed', sequence: { epoch: 1, n: 2 } })),
    ];
    const { state, commands } = after(...migrating, ...events);
    expect(words(commands)).toEqual(['forward domainChanged']);
    expect(state.domain).toBeUndefined();
  });
  test.each<[string, InstanceEvent]>([
    ['the VMI shall end', deleted],
    ['its guest shuts down', says(domain('shutoff', { end: 'guestShutdown' }))],
    ['its guest crashes', says(domain('crashed'))],
    ['its Pod is deleted', { type: 'podObserved', facts: pod({ deleting: true }) }],
  ])('it is cancelled, once, when %s', (_, event) => {
    expect(words(after(...migrating, event).commands)).toContain('cancel');
    expect(words(after(...migrating, event, { type: 'timerFired' }).commands)).toEqual([]);
  });
  test.each([
    ['has migrated', domain('shutoff', { end: 'migrated', migrationUid: 'm1' })],
    ['is gone with the migration', domain('none', { migrationUid: 'm1' })],
  ])('a domain that %s is not the end of its guest', (_, told) => {
    expect(words(after(...migrating, says(told)).commands)).toEqual(['forward domainChanged']);
  });
  test('what it struggles with is not held against the VMI', () => {
    const trouble = { step: 'AwaitTargetPod', failure: { type: 'PodNotReady', message: 'no room' } };
    const { state } = after(...migrating, progress('Scheduling', {}, { trouble }));
    expect(reportOf(state).conditions.map(({ type }) => type)).toEqual(['Ready']);
  });
  test('that nobody knows who has the guest is a condition of its own', () => {
    const { state } = after(...migrating, progress('Running', { outcomeUnknown: 'bring node n1 back' }));
    expect(reportOf(state).conditions).toContainEqual({
      ...{ type: 'MigrationOutcomeUnknown', status: 'True', reason: 'MigrationOutcomeUnknown' },
      message: 'bring node n1 back',
    });
  });
  test('the moment in which it stops the guest is neither shown nor worth a write', () => {
    const before = reportOf(after(...migrating, progress('Running'), says(domain('running'))).state);
    const paused = domain('paused', { pausedBy: 'migration', sequence: { epoch: 1, n: 2 } });
    const during = reportOf(after(...migrating, progress('Running'), says(paused)).state);
    expect(during.conditions).toEqual(before.conditions);
  });
  test('a numbered uid of a migration alone is not worth a write', () => {
    const key = (change: Partial<DomainReport>): string =>
      reportKey(reportOf(after(...running, says(domain('running', change))).state));
    expect(key({ migrationUid: 'm1' })).toBe(key({}));
  });
});

describe('after it', () => {
  test('as soon as the token has moved the target is the VMI’s Pod, and the source is still told of', () => {
    const told = [progress('Running'), says(ofTarget())];
    const { state } = after(...migrating, ...told, progress('Succeeded', {}, moved));
    expect(state).toMatchObject({ pod: target, epoch: 2, domain: ofTarget(), former: { uid: 'p1' } });
    expect(reportOf(state)).toMatchObject({ node: 'n2', activePods: { t1: 'n2', p1: 'n1' } });
  });
  test('nothing of the source is left, and the next operation may come', () => {
    const { state } = after(...migrating, progress('Running'), succeeded);
    expect(state).toMatchObject({ pod: target, epoch: 2, started: true, leftovers: [] });
    expect([state.operation, state.former, state.target]).toEqual([undefined, undefined, undefined]);
    expect(words(after(...migrating, succeeded, proposed('migration/default/mig-2/m2')).commands)).toEqual(['accept']);
  });
  test('reports of the Pod that it has left only inform', () => {
    const late = says(domain('shutoff', { end: 'killed', sequence: { epoch: 9, n: 9 } }));
    expect(after(...migrating, succeeded, late).commands).toEqual([]);
  });
  test('a guest that ended in the target in the meantime is shut down there', () => {
    const ended = ofTarget({ state: 'shutoff', end: 'guestShutdown' });
    const { commands } = after(...migrating, progress('Running'), says(ended), succeeded);
    expect(commands).toMatchObject([{ id: 'vmi-shutdown/u1/1', operation: { pod: target, epoch: 2 } }]);
  });
  test('a VMI that shall end is shut down where its guest is, then the Pod that it has left', () => {
    const { commands, state } = after(...migrating, deleted, succeeded);
    expect(commands).toMatchObject([{ operation: { kind: 'shutdown', pod: target, epoch: 2, cause: 'deleted' } }]);
    expect(state.leftovers).toEqual([{ name: 'p1', uid: 'p1', node: 'n1' }]);
  });
  test.each(['failed', 'cancelled'] as const)('that %s, everything is as before', (outcome) => {
    const { state, commands } = after(...migrating, progress('Running'), failed(outcome));
    expect(commands).toEqual([]);
    expect(state).toMatchObject({ pod: { uid: 'p1' }, epoch: 1, started: true, migration: { phase: 'Failed' } });
    expect([state.operation, state.failed, state.target]).toEqual([undefined, undefined, undefined]);
  });
  test('that failed because the VMI shall end, its guest is shut down where it is', () => {
    expect(words(after(...migrating, deleted, failed('cancelled')).commands)).toEqual([
      'begin vmi-shutdown/u1/1 deleted',
    ]);
  });
  test('in which the guest was lost, the VMI has ended', () => {
    const { commands } = after(...migrating, progress('Running'), failed('failed', { end: 'unknown' }));
    expect(commands).toMatchObject([{ operation: { kind: 'shutdown', cause: 'guestStopped', end: 'unknown' } }]);
  });
  test('that came to nothing before it had a target, the VMI keeps what its last one said', () => {
    const first = after(...migrating, progress('Running'), succeeded);
    expect(first.state.migration?.phase).toBe('Succeeded');
    const { target: _, ...refused } = report('Failed');
    const { state } = after(...migrating, progress('Running'), succeeded, proposed('migration/default/mig-2/m2'), {
      type: 'operationFinished',
      finished: {
        ...{ operationId: 'migration/default/mig-2/m2', kind: 'migrate', outcome: 'failed' },
        migration: { ...refused, migration: { ...migration, uid: 'm2' } },
      },
    });
    expect(state.migration?.migration.uid).toBe('m1');
  });
});

const moving = {
  ...heldToken,
  moving: { migration: { name: 'mig-1', uid: 'm1' }, podUid: 't1', podName: 't1', node: 'n2' },
};
const movedToken = { epoch: 4, holder: { ...heldToken.holder, podUid: 't1', podName: 't1', node: 'n2' } };
const source = { p1: domain('running') };

describe('an entity without history', () => {
  const world = (change: Parameters<typeof found>[0]) =>
    after(seen, { type: 'adopted', found: found({ instance: instance({ phase: 'Running' }), ...change }) });

  test.each([
    ['the token says that the guest moves', { pods: [pod(), targetFacts], token: moving, domains: source }],
    [
      'the same, with its VMI deleted',
      { instance: instance({ deleting: true }), pods: [pod(), targetFacts], token: moving, domains: source },
    ],
    ['the token says so and both Pods are gone', { pods: [], token: moving, domains: {} }],
    ['a target Pod stands beside its own', { pods: [pod(), targetFacts], token: heldToken, domains: source }],
    ['a target Pod does, and it is listed first', { pods: [targetFacts, pod()], token: heldToken, domains: source }],
    [
      'the guest has moved and its Pod is still there',
      { pods: [pod(), targetFacts], token: movedToken, domains: { t1: ofTarget() } },
    ],
  ])('begins the migration again when %s', (_, change) => {
    const { commands, state } = world(change);
    expect(commands[0]).toMatchObject({ type: 'begin', id, operation: { kind: 'migrate', migration } });
    expect(state.leftovers).toEqual([]);
  });

  test('waits for one that still runs', () => {
    const operation = { id, kind: 'migrate' as const, attempt: 1, migration };
    const { commands, state } = world({ pods: [pod(), targetFacts], token: moving, domains: source, operation });
    expect(words(commands)).toEqual(['forward ping']);
    expect(state).toMatchObject({ operation: { id }, pod: { uid: 'p1' }, leftovers: [] });
  });

  test('takes a guest that has moved for what it is', () => {
    const { commands, state } = world({ pods: [targetFacts], token: movedToken, domains: { t1: ofTarget() } });
    expect(commands).toEqual([]);
    expect(state).toMatchObject({ pod: target, epoch: 4, started: true });
  });

  test('never takes a target Pod for the holder', () => {
    const { state } = world({ pods: [targetFacts], token: heldToken, domains: {} });
    expect(state.pod?.uid).toBe('p1');
  });

  test('accepts the migration that it would begin itself, whatever state its guest is in', () => {
    const world = found({
      pods: [pod(), targetFacts],
      token: moving,
      domains: { p1: domain('paused', { pausedBy: 'migration' }) },
    });
    const { commands } = after(seen, proposed(), { type: 'adopted', found: world });
    expect(words(commands)).toEqual(['accept']);
  });

  test('does not begin one that has succeeded for good again: what it left is shut down as any Pod that holds nothing', () => {
    const left = { pods: [pod(), targetFacts], token: movedToken, domains: { t1: ofTarget() } };
    const there = found({ ...left, instance: instance({ phase: 'Running' }) });
    const { commands, state } = after(
      ...[seen, { type: 'adopted' as const, found: there }],
      { type: 'operationExists', id, isOpen: false },
      { type: 'adopted', found: there },
    );
    expect(commands).toMatchObject([{ operation: { kind: 'shutdown', pod: { uid: 'p1' }, cause: 'startCancelled' } }]);
    expect(commands[0]).not.toHaveProperty('operation.epoch');
    expect(isOver(state)).toBe(false);
  });

  test('does not take the end of such a Pod for that of its guest', () => {
    const left = { pods: [pod(), targetFacts], token: movedToken, domains: { t1: ofTarget() } };
    const there = found({ ...left, instance: instance({ phase: 'Running' }) });
    const shutdownFailed: InstanceEvent = {
      type: 'operationFinished',
      finished: {
        ...{ operationId: 'vmi-shutdown/u1/1', kind: 'shutdown', outcome: 'failed', end: 'neverRan' },
        ...{ pod: { name: 'p1', uid: 'p1', node: 'n1' }, failure: { type: 'Forbidden', message: 'no' } },
      },
    };
    const { state } = after(
      ...[seen, { type: 'adopted' as const, found: there }],
      { type: 'operationExists', id, isOpen: false },
      { type: 'adopted', found: there },
      shutdownFailed,
    );
    expect([state.witnessed, state.end, state.pod?.uid]).toEqual([undefined, undefined, 't1']);
  });

  test('asks a migration in that goes on without it, and cancels it if it may not', () => {
    expect(words(after(...running, progress('Scheduling')).commands)).toEqual(['accept']);
    expect(words(after(...adoptedAs(), progress('Scheduling')).commands)).toEqual(['cancel']);
    expect(after(...running, progress('Pending')).commands).toEqual([]);
  });

  test('that hears of the end of a migration it does not know looks again', () => {
    expect(words(after(...running, succeeded).commands)).toEqual(['adopt']);
    expect(after(...running, failed()).commands).toEqual([]);
  });
});

test('a migration that is lost makes it look at the world again', () => {
  expect(words(after(...migrating, { type: 'operationLost', id }).commands)).toEqual(['adopt']);
});

describe('a migration that has failed and clears up', () => {
  const failing = [...migrating, progress('Running')];
  const stays = progress('Failed', { stays: true });
  const shutdownId = 'vmi-shutdown/u1/1';
  const shutDown: InstanceEvent = {
    type: 'operationFinished',
    finished: {
      ...{ operationId: shutdownId, kind: 'shutdown', outcome: 'succeeded', end: 'acpiShutdown' },
      pod: { name: 'p1', uid: 'p1', node: 'n1' },
    },
  };

  test('holds nothing up: the guest of a VMI that shall end is shut down where it stayed', () => {
    const { state, commands } = after(...failing, stays, deleted);
    expect(words(commands)).toEqual(['forward wake', `begin ${shutdownId} deleted`]);
    expect(state).toMatchObject({ clearing: { id }, operation: { id: shutdownId } });
  });

  test('also when it is told that the guest stays only after it was asked to end', () => {
    expect(words(after(...failing, deleted).commands)).toEqual(['forward wake', 'cancel']);
    expect(words(after(...failing, deleted, stays).commands)).toEqual([`begin ${shutdownId} deleted`]);
  });

  test('is waited for as long as the token does not say that the guest stays', () => {
    expect(words(after(...failing, progress('Failed'), deleted).commands)).toEqual(['forward wake', 'cancel']);
  });

  test('is all that the VMI is busy with as long as it shall run on', () => {
    expect(after(...failing, stays).state.operation).toMatchObject({ id, stays: true });
    expect(words(after(...failing, stays, proposed('migration/default/mig-2/m2')).commands)).toEqual([
      'refuse OperationUnderWay',
    ]);
  });

  test('keeps the object: its finalizer goes when nothing is left', () => {
    const ended = [...failing, stays, deleted, shutDown];
    const { state, commands } = after(...ended);
    expect([state.phase, words(commands)]).toEqual(['Succeeded', []]);
    expect(reportOf(state).activePods).toEqual({ t1: 'n2' });
    expect(words(after(...ended, failed()).commands)).toEqual(['release']);
  });

  test('hears of its target, and is asked for like any other operation', () => {
    const ending = [...failing, stays, deleted];
    const forwarded = (event: InstanceEvent) =>
      after(...ending, event).commands.flatMap((command) => (command.type === 'forward' ? [command.id] : []));
    expect(forwarded({ type: 'podObserved', facts: { ...targetFacts, gone: true } })).toEqual([shutdownId, id]);
    expect(forwarded({ type: 'instanceObserved', facts: instance({ deleting: true, resourceVersion: '2' }) })).toEqual([
      ...[shutdownId, id],
    ]);
  });

  test('and does not run any more leaves its target to be removed', () => {
    const lost: InstanceEvent = { type: 'operationLost', id };
    const { state } = after(...failing, stays, deleted, lost);
    expect([state.clearing, state.leftovers]).toEqual([undefined, [target]]);
    expect(words(after(...failing, stays, deleted, lost, shutDown).commands)).toEqual([
      'begin vmi-shutdown/u1/2 startCancelled',
    ]);
  });

  test('is found beside the shutdown by an entity that knows nothing', () => {
    const operation = { id: shutdownId, kind: 'shutdown' as const, attempt: 1 };
    const clearing = { id, kind: 'migrate' as const, attempt: 1, migration };
    const pods = [pod(), targetFacts];
    const { state } = after(...adoptedAs({ pods, token: heldToken, operation, clearing }));
    expect(state).toMatchObject({ operation: { id: shutdownId }, clearing: { id }, target: { pod: target } });
    expect(state.leftovers).toEqual([]);
  });
});
