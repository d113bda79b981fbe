import { describe, expect, test } from '@jest/globals';
import { FAILURES, type FailureType } from '../../../../api/contract/failures.ts';
import { STAGES, type Facts } from '../../../../cli/diagnose/facts.ts';
import { walk } from '../../../../cli/diagnose/walk.ts';
import { migration, report, running, NUMBERS, at } from '../migration/samples.ts';
import * as f from './facts.ts';

const stage = (facts: Facts, name: string) => {
  const { stages, migration: moving } = walk(facts);
  return [...stages, ...(moving?.stages ?? [])].find((one) => one.stage === name);
};

test('a VM that runs well: every stage is ok, and nothing stands in its way', () => {
  const diagnosis = walk(f.runningWell);
  expect(diagnosis.stages.map(({ state }) => state)).toEqual(STAGES.map(() => 'ok'));
  expect(diagnosis).toMatchObject({ sentence: 'web runs on node-a; nothing stands in its way.', unasked: [] });
  expect(diagnosis.standsAt).toBeUndefined();
  expect(diagnosis.migration).toBeUndefined();
});

describe('a start stands at', () => {
  test.each<[string, string, string, Facts, RegExp, RegExp]>([
    [
      'object',
      'no controller',
      'waiting',
      f.noInstance({}, { controller: 0 }),
      /no controller worker/,
      /kubectl get pods/,
    ],
    ['object', 'not begun', 'waiting', f.noInstance({}), /no instance yet/, /wait/],
    [
      'object',
      'crash loop',
      'waiting',
      f.noInstance({ retryAt: at(60) }),
      /next start is due at/,
      /virtflow history web/,
    ],
    ['object', 'deleted', 'waiting', f.withVmi({ deleting: true }), /being shut down/, /--force/],
    [
      'volumes',
      'no claim',
      'waiting',
      f.starting({ claims: [{ name: 'data' }] }),
      /data does not exist/,
      /create the claim/,
    ],
    [
      'volumes',
      'unbound',
      'waiting',
      f.starting({ claims: [f.claim('data', 'Pending')] }),
      /data is Pending/,
      /describe pvc/,
    ],
    [
      'launcher Pod',
      'image',
      'waiting',
      f.starting({ pods: [f.pod({ waiting: 'ErrImagePull' })] }),
      /container volumedisk0 \(quay\.example\/disk:1\): ErrImagePull/,
      /image's name/,
    ],
    [
      'launcher Pod',
      'ended',
      'failed',
      f.starting({ pods: [f.pod({ phase: 'Failed' })] }),
      /exit code 7/,
      /kubectl logs/,
    ],
    ['launcher Pod', 'begins', 'waiting', f.starting({ pods: [f.pod({ ready: false })] }), /being started/, /wait/],
    [
      'scheduling',
      'no room',
      'waiting',
      f.starting({ pods: [f.pod({ unschedulable: '0/2 nodes are available.' })] }),
      /0\/2 nodes are available/,
      /room on nodes/,
    ],
    ['scheduling', 'new', 'waiting', f.starting({ pods: [f.pod({ node: '' })] }), /no node has been chosen/, /wait/],
    [
      'scheduling',
      'node down',
      'failed',
      f.starting({ pods: [f.pod()], nodeReady: false }),
      /node-a: it is not Ready/,
      /bring the node/,
    ],
    [
      'scheduling',
      'node gone',
      'failed',
      { ...f.starting({ pods: [f.pod()] }), node: { answered: true, value: undefined } },
      /node-a is gone/,
      /bring the node/,
    ],
    [
      'command server',
      'no worker',
      'waiting',
      f.starting({ pods: [f.pod()], workers: 0 }),
      /no worker on node node-a/,
      /bring that node's worker back/,
    ],
    [
      'command server',
      'silent node',
      'waiting',
      f.withVmi({ conditions: [f.SILENT] }),
      /NodeUnresponsive: .*not been heard of/,
      /virtflow fence/,
    ],
    ['libvirt', 'not yet', 'waiting', f.starting({ pods: [f.pod()] }), /has not started yet/, /wait/],
    ['domain', 'paused', 'waiting', f.withVmi({ conditions: [f.PAUSED] }), /paused: vda: no space/, /make room/],
    ['domain', 'ended', 'failed', f.withVmi({ phase: 'Failed' }), /guest ended: crashed/, /virtflow history web/],
  ])('%s (%s): %s', (name, _, state, facts, why, remedy) => {
    const diagnosis = walk(facts);
    expect(diagnosis.standsAt).toMatchObject({ stage: name, state });
    expect(diagnosis.standsAt?.why).toMatch(why);
    expect(diagnosis.standsAt?.remedy).toMatch(remedy);
    expect(diagnosis.sentence).toMatch(new RegExp(`^web stands at (its )?${name} because .*; .*\\.$`));
  });
});

describe('what the operation says decides where a start stands', () => {
  const types = [...(Object.keys(FAILURES) as FailureType[]), 'Unknown' as const].filter(
    (type) => type !== 'Cancelled',
  );
  test.each(types)('%s', (type) => {
    const { standsAt, sentence } = walk(f.waitingFor(type));
    expect(standsAt).toMatchObject({ state: 'waiting' });
    expect(standsAt?.why).toBe('it is so (next try in 30 s)');
    expect(standsAt?.by).toBe(`AStep: ${type}`);
    expect(sentence).toContain('because it is so');
    expect(walk(f.failedBy(type)).standsAt).toMatchObject({ stage: standsAt?.stage, state: 'failed' });
  });

  test.each([
    ['VolumeNotFound', 'volumes'],
    ['Forbidden', 'launcher Pod'],
    ['NoWorker', 'command server'],
    ['DomainRejected', 'libvirt'],
    ['Unproven', 'domain'],
  ] as const)('%s is about stage %s', (type, expected) => {
    expect(walk(f.waitingFor(type)).standsAt?.stage).toBe(expected);
  });

  test('a Pod that is not ready stands at scheduling while no node takes it', () => {
    const facts = { ...f.waitingFor('PodNotReady'), pods: f.answer([f.pod({ unschedulable: 'no room' })]) };
    expect(walk(facts).standsAt?.stage).toBe('scheduling');
    expect(walk(f.waitingFor('PodNotReady')).standsAt?.stage).toBe('launcher Pod');
  });

  test('an operation that was cancelled stands in no way', () => {
    expect(walk(f.failedBy('Cancelled')).standsAt?.why ?? '').not.toContain('Cancelled');
  });
});

describe('without Temporal', () => {
  const silent = (facts: Facts): Facts => ({ ...facts, temporal: { answered: false, why: 'it cannot be reached' } });

  test('a running VM is still known to run, and what could not be asked is named', () => {
    const { sentence, unasked, stages } = walk(silent(f.runningWell));
    expect(sentence).toBe('web runs on node-a; nothing stands in its way.');
    expect(unasked).toEqual(['Temporal: it cannot be reached']);
    expect(stages.find((one) => one.stage === 'command server')?.why).toContain('could not be asked');
  });

  test('a Pod that is ready and a guest that does not run: the command server cannot be judged', () => {
    expect(stage(silent(f.starting({ pods: [f.pod()] })), 'command server')).toMatchObject({ state: 'unknown' });
  });

  test.each([
    ['FailedPvcNotFound', 'PVC data does not exist', 'volumes', /create the claim/],
    ['FailedCreate', 'exceeded quota: q', 'launcher Pod', /raise the quota/],
    ['FailedCreate', 'violates PodSecurity', 'launcher Pod', /change the VM/],
    ['ImagePullBackOff', 'no such image', 'launcher Pod', /image's name/],
    ['DomainRejected', 'unsupported configuration', 'libvirt', /correct the VM/],
    ['Whatever', 'a surprise', 'object', /Temporal UI/],
  ])('condition Synchronized with reason %s (%s) stands at %s', (reason, message, expected, remedy) => {
    const conditions = [{ type: 'Synchronized', status: 'False', reason, message }];
    const { standsAt } = walk(silent(f.withVmi({ phase: 'Pending', conditions })));
    expect(standsAt).toMatchObject({ stage: expected, why: `${reason}: ${message}` });
    expect(standsAt?.remedy).toMatch(remedy);
  });
});

test('whoever cannot be asked leaves a stage unknown, and is named', () => {
  const forbidden = { answered: false as const, why: 'pods is forbidden' };
  const facts = { ...f.runningWell, pods: forbidden, claims: { answered: false as const, why: 'claims is forbidden' } };
  expect(stage(facts, 'launcher Pod')).toMatchObject({ state: 'unknown', why: 'pods is forbidden' });
  expect(stage(facts, 'volumes')).toMatchObject({ state: 'unknown' });
  expect(walk(facts).unasked).toEqual(['launcher Pods: pods is forbidden', 'claims: claims is forbidden']);
});

test('a running VM is not seen as standing somewhere because it has no agent', () => {
  const { standsAt, sentence } = walk(f.withVmi({ conditions: [] }));
  expect(standsAt).toBeUndefined();
  expect(sentence).toMatch(/^web runs on node-a: the guest agent does not answer; wait until the guest has booted/);
});

test('a node that is cordoned still runs its guests', () => {
  const cordoned = { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  expect(stage({ ...f.runningWell, node: f.answer(cordoned) }, 'scheduling')).toMatchObject({ state: 'ok' });
});

describe('a migration stands at', () => {
  const step = (name: string) => ({ name, startedAt: at(90), attempts: 1, state: 'running' as const });
  const failure = { type: 'PodNotReady' as const, message: 'no node.' };

  test.each<[string, string, Facts, RegExp]>([
    ['Prepare', 'by its phase', f.migrating(migration('Scheduling')), /under way: phase Scheduling/],
    ['Migrate', 'by its phase', f.migrating(migration('Running')), /phase Running/],
    [
      'Prepare',
      'its permit',
      f.migrating(migration('Pending'), { steps: [{ ...step('AcquirePermit'), note: 'third in line' }] }),
      /AcquirePermit for 10 s \(third in line\)/,
    ],
    [
      'Prepare',
      'its target Pod',
      f.migrating(migration('Scheduling'), {
        steps: [{ ...step('AwaitTargetPod'), state: 'waiting', failure, nextTryAt: at(105) }],
      }),
      /^no node \(next try in 5.0 s\)/,
    ],
    [
      'Migrate',
      'its transfer',
      f.migrating(migration('Running'), { steps: [step('MigrateVMI')] }),
      /MigrateVMI for 10 s/,
    ],
    [
      'Migrate',
      'an outcome nobody knows',
      f.migrating(migration('Running'), {
        steps: [step('MigrateVMI')],
        migration: report('Running', { outcomeUnknown: 'node-b is silent.' }),
      }),
      /nobody can say who holds the guest: node-b is silent/,
    ],
    [
      'Finalize',
      'its end',
      f.migrating(migration('Running'), { steps: [step('FinalizeMigration')] }),
      /FinalizeMigration/,
    ],
  ])('%s (%s)', (name, _, facts, why) => {
    const { standsAt, sentence } = walk(facts);
    expect(standsAt).toMatchObject({ stage: name, state: 'waiting' });
    expect(standsAt?.why).toMatch(why);
    expect(sentence).toMatch(
      new RegExp(`^web runs on node-a; its migration kubevirt-migrate-vm-abc stands at ${name} because`),
    );
  });

  test('Prepare, seen from the target Pod alone', () => {
    const target = f.pod({ unschedulable: '0/1 nodes', migrationUid: 'uid-kubevirt-migrate-vm-abc' });
    const facts = { ...f.migrating(migration('Scheduling')), pods: f.answer([f.pod(), target]) };
    expect(walk(facts).standsAt).toMatchObject({ stage: 'Prepare', why: 'target Pod: Unschedulable: 0/1 nodes' });
    expect(stage(facts, 'scheduling')).toMatchObject({ state: 'ok' });
  });

  test('Migrate when it failed there, whatever was taken back afterwards', () => {
    const steps = [
      { ...step('PrepareMigrationTarget'), state: 'undone' as const },
      { ...step('MigrateVMI'), state: 'failed' as const },
      { ...step('Undo PrepareMigrationTarget'), state: 'failed' as const },
    ];
    const failed = { type: 'MigrationFailed' as const, message: 'no progress for 150 s' };
    const facts = f.migrating(migration('Failed'), { steps, failure: failed, migration: report('Failed') }, 'failed');
    const { standsAt, sentence, migration: moving } = walk(facts);
    expect(moving?.stages.map(({ state }) => state)).toEqual(['ok', 'failed', 'not reached']);
    expect(standsAt?.why).toBe('no progress for 150 s');
    expect(standsAt?.by).toBe('MigrateVMI: MigrationFailed');
    expect(sentence).toMatch(
      /^web runs on node-a; its last migration .* failed at Migrate because .*virtflow retry web/,
    );
  });

  test('where it failed, with what hinders taking it back', () => {
    const gone = { type: 'NoWorker' as const, message: 'no worker on node-b.' };
    const steps = [
      { ...step('MigrateVMI'), state: 'failed' as const },
      { ...step('Undo PrepareMigrationTarget'), state: 'waiting' as const, failure: gone },
    ];
    const failed = { type: 'MigrationFailed' as const, message: 'it was aborted' };
    const facts = f.migrating(migration('Failed'), { steps, migration: report('Failed', { failure: failed }) });
    expect(walk(facts).standsAt).toMatchObject({
      stage: 'Migrate',
      why: 'it was aborted; not all of it is taken back yet: Undo PrepareMigrationTarget: NoWorker: no worker on node-b',
      remedy: expect.stringContaining("that node's worker") as unknown,
    });
  });

  test('at the one of two steps side by side that waits', () => {
    const waiting = { ...step('AwaitTargetPod'), state: 'waiting' as const, failure };
    const facts = f.migrating(migration('Scheduling'), { steps: [waiting, step('InspectSource')] });
    expect(walk(facts).standsAt?.by).toContain('AwaitTargetPod: PodNotReady');
  });

  test('nowhere when it was cancelled: that was meant', () => {
    const facts = f.migrating(
      migration('Failed'),
      { steps: [], migration: report('Failed', { abort: 'succeeded' }) },
      'failed',
    );
    expect(walk(facts)).toMatchObject({
      sentence: 'web runs on node-a; nothing stands in its way.',
      migration: { state: 'cancelled' },
    });
  });

  test('nowhere when it succeeded: its numbers are shown', () => {
    const told = { steps: [], migration: report('Succeeded', { numbers: NUMBERS }) };
    const { migration: moving, standsAt } = walk(f.migrating(migration('Succeeded'), told, 'succeeded'));
    expect(standsAt).toBeUndefined();
    expect(moving?.stages.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
    expect(moving?.stages[1]?.why).toBe('300 MiB in 3 passes, downtime 85 ms, PreCopy');
  });

  test('where it failed, as far as its object tells, without Temporal', () => {
    const migrationState = { migrationUid: 'uid-kubevirt-migrate-vm-abc', failed: true, failureReason: 'no room' };
    const last = migration('Failed', { status: { migrationState } });
    const { standsAt } = walk({ ...f.migrating(last), vmi: running([f.AGENT]) });
    expect(standsAt).toMatchObject({ stage: 'Prepare', state: 'failed', why: 'no room' });
  });

  test.each([
    ['Waiting', 'VolumeNotReady', 'waiting', 'Scheduling', /^so it is$/, /describe pvc/],
    ['MigrationOutcomeUnknown', 'Unproven', 'waiting', 'Running', /who holds the guest: so it is/, /delete neither/],
    ['Failure', 'PeerUnreachable', 'failed', 'Failed', /^so it is$/, /node workers are Ready/],
  ])('condition %s (%s) of its object, without Temporal', (type, reason, state, phase, why, remedy) => {
    const conditions = [{ type, status: 'True', reason, message: 'so it is.' }];
    const { standsAt } = walk(f.migrating(migration(phase, { status: { conditions } })));
    expect(standsAt).toMatchObject({ state });
    expect(standsAt?.why).toMatch(why);
    expect(standsAt?.remedy).toMatch(remedy);
  });
});

test('a VM that is meant to be stopped is stopped, and waits for nothing', () => {
  const { sentence, standsAt } = walk(f.noInstance({ runStrategy: 'Halted' }));
  expect(sentence).toBe('web is stopped; start it: virtflow start web --wait.');
  expect(standsAt).toMatchObject({ stage: 'object', state: 'stopped' });
});

test('the sentence says once what to do, and names no step', () => {
  const message = 'PersistentVolumeClaim n/a does not exist. Create it; the start goes on by itself.';
  const facts = f.waitingFor('VolumeNotFound');
  const [step] = facts.temporal.answered ? (facts.temporal.value.operation?.status?.steps ?? []) : [];
  if (step) step.failure = { type: 'VolumeNotFound', message };
  expect(walk(facts).sentence).toBe(
    'web stands at its volumes because PersistentVolumeClaim n/a does not exist; create the claim that the message names; it goes on by itself.',
  );
});
