import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { MigrationReport } from '../../api/contract/migrations.ts';
import { migrationAnswered } from '../../api/contract/migrations.ts';
import { newLab } from '../support/fakes/lab.ts';
import type { Migrating } from '../support/fakes/migrating.ts';
import { begin, migrate, story } from '../support/fakes/migrating.ts';
import { targetUid } from '../support/fakes/migrations.ts';
import { untilStep } from '../support/fakes/operations.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

const inTarget = { guest: 'target', left: [], pods: 1, phase: 'Succeeded' };
const inSource = { guest: 'source', left: [], pods: 1, phase: 'Failed' };
const end = async (migrating: Migrating, operation = migrating.operation) => {
  const { guest, left, pods, report, failure, ending } = await story(lab, migrating, operation);
  return { ends: { guest, left, pods, phase: report.phase }, report, failure, ending };
};
const published = ({ vmim }: Migrating, what: string, isSo: (report: MigrationReport) => boolean) =>
  lab.until(what, () => vmim.reports.some(isSo));
/** Milliseconds of the lab's time that this takes; nothing skips time while nobody awaits a result. */
const took = ({ startedAt, endedAt }: MigrationReport): number =>
  Date.parse(endedAt ?? '') - Date.parse(startedAt ?? '');

test('a guest moves to another node; its object passes all phases in few writes', async () => {
  const migrating = await migrate(lab);
  const { ends, report, ending } = await end(migrating);
  expect(ends).toEqual(inTarget);
  expect(ending.steps.map(({ name, state }) => `${name} ${state}`)).toEqual(
    [
      ...['AdmitMigration', 'ProposeMigration', 'AcquirePermit', 'CreateTargetPod', 'AwaitTargetPod', 'InspectSource'],
      ...['PrepareMigrationTarget', 'RecordMove', 'MigrateVMI', 'FinalizeMigration', 'MoveToken', 'RetireSource'],
      'Clean up AcquirePermit',
    ].map((name) => `${name} done`),
  );
  expect(report.phaseTimes.map(({ phase }) => phase)).toEqual([
    ...['Pending', 'Scheduling', 'Scheduled', 'PreparingTarget', 'TargetReady', 'Running', 'Succeeded'],
  ]);
  expect(migrating.vmim.reports.length).toBeLessThanOrEqual(4);
  expect(report).toMatchObject({ source: migrating.source, target: { uid: targetUid(migrating.migration) } });
  expect(ending).toMatchObject({ pod: { node: TARGET_NODE }, epoch: 2, migration: { phase: 'Succeeded' } });
  expect(lab.world.tokens.get('vm-a')).toMatchObject({ epoch: 2, holder: { pod: { node: TARGET_NODE } } });
});

test('its object is Succeeded before the Pod that the guest has left is gone', async () => {
  lab.world.manners.refuse['closeMigrationSource'] = { type: 'Unproven', message: 'the node is away' };
  lab.world.manners.refuse['deletePod'] = { type: 'Unproven', message: 'the API server is away' };
  const migrating = await migrate(lab);
  await published(migrating, 'Succeeded', ({ phase }) => phase === 'Succeeded');
  expect(lab.world.pods.has(migrating.source.uid)).toBe(true);
  lab.world.manners.refuse = {};
  expect((await end(migrating)).ends).toEqual(inTarget);
});

test('search attributes name object and nodes', async () => {
  const { operation, migration } = await migrate(lab);
  await operation.result();
  const { typedSearchAttributes } = await operation.describe();
  const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(attributes).toMatchObject({
    ...{ MigrationUid: migration.uid, NodeName: 'node-a', TargetNode: TARGET_NODE },
    ...{ Operation: 'migrate', Phase: 'Succeeded', VmName: 'vm-a' },
  });
});

describe('is refused', () => {
  test.each([
    ['NotMigratable', 'DisksNotLiveMigratable: volume data is not shared'],
    ['OperationUnderWay', 'mig-0 is not finished'],
    ['InvalidSpec', 'spec.vmiName is missing'],
  ] as const)('by admission: %s', async (type, message) => {
    lab.world.manners.refuse['admitMigration'] = { type, message };
    const { ends, failure, report } = await end(await migrate(lab));
    expect([ends, failure, report.failure]).toEqual([inSource, { type, message }, { type, message }]);
  });
  test.each(['NotMigratable', 'OperationUnderWay'] as const)('by the instance: %s', async (type) => {
    const failure = { type, message: 'not now' };
    const before = (id: string): void => {
      const answer = () =>
        lab.env.client.workflow.getHandle(id).signal(migrationAnswered, { accepted: false, failure });
      lab.fault = { at: 0, of: 'admitMigration', kind: 'meanwhile', run: answer };
    };
    const outcome = await end(await migrate(lab, { before }));
    expect([outcome.ends, outcome.failure]).toEqual([inSource, failure]);
  });
  test('without an instance', async () => {
    const migrating = await migrate(lab, { facts: { vmiName: 'no-such-vm' }, before: () => lab.world.vmis.clear() });
    expect((await end(migrating)).failure?.type).toBe('NotMigratable');
  });
});

describe('the target Pod', () => {
  const slow = async () => {
    lab.world.manners.kubelet = 'slow';
    const before = (): void => undefined;
    // The source must run before the kubelet becomes slow.
    lab.world.manners.kubelet = 'prompt';
    return migrate(lab, { before: () => ((lab.world.manners.kubelet = 'slow'), before()) });
  };
  const uidOf = ({ migration }: Migrating): string => targetUid(migration);

  test('that cannot be scheduled is waited for for 300 s, and what it lacks is told', async () => {
    const migrating = await slow();
    await untilStep(migrating.operation, 'InspectSource', 'done');
    const unschedulable = { reason: 'Unschedulable', message: '0/2 nodes are available: no room' };
    await lab.world.changePod(uidOf(migrating), { unschedulable });
    await published(migrating, 'the obstacle', ({ failure }) => failure?.type === 'PodNotReady');
    lab.world.manners.kubelet = 'prompt';
    const { ends, failure, report } = await end(migrating);
    expect(ends).toEqual(inSource);
    expect(failure).toMatchObject({ type: 'DeadlineExceeded', message: expect.stringContaining('no room') as unknown });
    const since = Date.parse(report.phaseTimes.find(({ phase }) => phase === 'Scheduling')?.at ?? '');
    expect(Math.round((Date.parse(report.endedAt ?? '') - since) / 1000)).toBeGreaterThanOrEqual(300);
    expect(Math.round((Date.parse(report.endedAt ?? '') - since) / 1000)).toBeLessThan(330);
  });
  test('that does not get ready is waited for for 900 s', async () => {
    const migrating = await slow();
    await untilStep(migrating.operation, 'InspectSource', 'done');
    lab.world.manners.kubelet = 'prompt';
    const { ends, failure } = await end(migrating);
    expect([ends, failure?.type]).toEqual([inSource, 'DeadlineExceeded']);
  });
  test('that is deleted or ends is noticed at once', async () => {
    const migrating = await slow();
    await untilStep(migrating.operation, 'InspectSource', 'done');
    lab.world.manners.kubelet = 'prompt';
    await lab.world.controller.deletePod({ vmi: migrating.vmi, pod: { name: 't', uid: uidOf(migrating) } });
    const { failure } = await end(migrating);
    expect(failure?.type).toBe('PodFailed');
  });
  test('whose readiness nobody told of is looked at', async () => {
    const migrating = await slow();
    await untilStep(migrating.operation, 'InspectSource', 'done');
    lab.world.tell = () => Promise.resolve();
    await lab.world.startPod(uidOf(migrating));
    lab.world.manners.kubelet = 'prompt';
    expect((await end(migrating)).ends).toEqual(inTarget);
  });
  test('that is deleted while the guest moves: the source keeps it', async () => {
    lab.world.manners.migrates = 'hangs';
    const migrating = await migrate(lab);
    await published(migrating, 'it moves', ({ phase }) => phase === 'Running');
    await untilStep(migrating.operation, 'MigrateVMI');
    await lab.world.controller.deletePod({ vmi: migrating.vmi, pod: { name: 't', uid: uidOf(migrating) } });
    const { ends, failure } = await end(migrating);
    expect(ends).toEqual(inSource);
    expect(failure?.message).toMatch(/^target Pod .* (ended|was deleted)/);
  });
});

describe('MigrateVMI', () => {
  test('that fails leaves the guest where it is, and says why', async () => {
    lab.world.manners.migrates = 'fails';
    const { ends, failure } = await end(await migrate(lab));
    expect(ends).toEqual(inSource);
    expect(failure).toEqual({ type: 'MigrationFailed', message: 'the connection to the target broke' });
  });

  test.each(['cancelled by its entity', 'cancelled by deleting its object'])('%s ends at once', async (how) => {
    lab.world.manners.migrates = 'hangs';
    const migrating = await migrate(lab);
    await untilStep(migrating.operation, 'MigrateVMI');
    await published(migrating, 'it moves', ({ phase }) => phase === 'Running');
    await lab.until(
      'the job runs',
      () => lab.world.pods.get(targetUid(migrating.migration))?.domain.state === 'incoming',
    );
    if (how.includes('entity')) await migrating.operation.cancel();
    else await lab.world.migrations.delete(migrating.migration.uid);
    const { ends, report } = await end(migrating);
    expect([ends, report.abort, took(report) < 10_000]).toEqual([inSource, 'succeeded', true]);
    expect(report.failure?.type).toBe('Cancelled');
  });

  test('whose hand-over was lost: the target is resumed as soon as both were asked', async () => {
    lab.world.manners.migrates = 'unresumed';
    const { ends } = await end(await migrate(lab));
    expect(ends).toEqual(inTarget);
  });

  test('in which the guest is lost says so, and clears everything away but the source', async () => {
    lab.world.manners.migrates = 'lost';
    const { ends, failure, ending } = await end(await migrate(lab));
    expect(ends).toMatchObject({ guest: 'nowhere', phase: 'Failed', pods: 1 });
    expect(failure?.message).toMatch(/the guest is lost/);
    expect(ending.end).toBe('unknown');
    expect(lab.world.tokens.get('vm-a')?.moving).toBeUndefined();
    expect(lab.world.violations).toEqual([]);
  });

  test('with a source that is silent: the outcome is unknown, nothing is deleted, and it is settled when it answers', async () => {
    lab.world.manners.migrates = 'unresumed';
    const migrating = await migrate(lab, {
      before: () => {
        const { source } = { source: [...lab.world.pods.keys()][0] ?? '' };
        const silence = () => Promise.resolve(lab.world.manners.silent.push(source));
        // Between MigrateVMI and the first look.
        lab.fault = { at: 1, of: 'inspectMigration', kind: 'meanwhile', run: silence };
      },
    });
    await published(migrating, 'it tells', ({ outcomeUnknown }) => outcomeUnknown !== undefined);
    expect(lab.world.pods.size).toBe(2);
    expect(lab.world.tokens.get('vm-a')?.moving).toBeDefined();
    lab.world.manners.silent = [];
    expect((await end(migrating)).ends).toEqual(inTarget);
  });

  test('that is cancelled while the target is silent: the source’s word is enough, the rest is cleared away later', async () => {
    lab.world.manners.migrates = 'hangs';
    const migrating = await migrate(lab);
    await untilStep(migrating.operation, 'MigrateVMI');
    await lab.until(
      'the job runs',
      () => lab.world.pods.get(targetUid(migrating.migration))?.domain.state === 'incoming',
    );
    lab.world.manners.silent = [targetUid(migrating.migration)];
    lab.world.manners.refuse['deletePod'] = { type: 'Unproven', message: 'the API server is away' };
    await migrating.operation.cancel();
    await published(migrating, 'Failed', ({ phase }) => phase === 'Failed');
    expect(lab.world.migrations.permits.size).toBe(1);
    lab.world.manners.refuse = {};
    expect((await end(migrating)).ends).toEqual(inSource);
  });
});

describe('run again after it was terminated', () => {
  const terminated = async () => {
    lab.world.manners.migrates = 'hangs';
    const migrating = await migrate(lab);
    await untilStep(migrating.operation, 'MigrateVMI');
    await lab.until(
      'the job runs',
      () => lab.world.pods.get(targetUid(migrating.migration))?.domain.state === 'incoming',
    );
    await lab.env.client.workflow.getHandle(migrating.id).terminate();
    return migrating;
  };

  test('it waits for the job that is under way, and goes forward with the guest', async () => {
    const migrating = await terminated();
    const again = await begin(lab, migrating);
    await untilStep(again, 'ResolveMigration');
    lab.world.manners.migrates = 'unresumed';
    expect((await end(migrating, again)).ends).toEqual(inTarget);
  });

  test('with its object deleted it cancels the job and takes everything back', async () => {
    const migrating = await terminated();
    migrating.vmim.facts.deleting = true;
    expect((await end(migrating, await begin(lab, migrating))).ends).toEqual(inSource);
  });

  test('with its object gone it does too', async () => {
    const migrating = await terminated();
    lab.world.migrations.vmims.delete(migrating.migration.uid);
    const { guest, left, pods } = await story(lab, migrating, await begin(lab, migrating));
    expect({ guest, left, pods }).toEqual({ guest: 'source', left: [], pods: 1 });
  });
});
