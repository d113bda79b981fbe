import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { pino } from 'pino';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { MigrateInput, MigrationReport } from '../../../api/contract/migrations.ts';
import { MIGRATION_SCHEDULER_ID, RETRY_OF_ANNOTATION } from '../../../api/contract/migrations.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { instanceId, migrationId } from '../../../api/contract/refs.ts';

import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { workflowClient } from '../../../activities/temporal/client.ts';
import type { WorkflowPort } from '../../../activities/temporal/port.ts';
import { Bridge } from '../../../workers/controller/bridge/bridge.ts';
import { newCourier } from '../../../workers/controller/bridge/courier.ts';
import { planSweep, runningWorkflows } from '../../../workers/controller/bridge/sweep.ts';
import type { Informers } from '../../../workers/controller/informers/informers.ts';
import { createInformers } from '../../../workers/controller/informers/informers.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { startTemporalServer } from '../../support/temporal-server.ts';
import { until } from '../../support/until.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

/** Migration objects between a real API server and a real Temporal; no worker runs, so that workflows stay as they were started. */
const KIND = 'VirtualMachineInstanceMigration';
const FINALIZER = 'kubevirt.io/migrationJobFinalize';
const namespace = 'default';
const log = pino({ level: 'silent' });

let server: TestApiServer;
let temporal: TestTemporalServer;
let connection: Connection;
let client: Client;
let kube: KubePort;
let workflows: WorkflowPort;
let activities: ControllerActivities;
beforeAll(async () => {
  [server, temporal] = await Promise.all([startApiServer(), startTemporalServer()]);
  connection = await Connection.connect({ address: temporal.address });
  client = new Client({ connection });
  kube = kubeClient(server.rest);
  workflows = workflowClient(client);
  const network = { defaultNetworkInterface: 'masquerade' };
  activities = activitiesOn(kube, { configuration: { network }, workflows });
  const labels = { 'kubevirt.io/schedulable': 'true' };
  for (const name of ['node-a', 'node-b']) await kube.create('Node', { metadata: { name, labels } });
}, 180_000);
afterAll(async () => {
  await connection.close();
  await Promise.all([server.close(), temporal.close()]);
}, 30_000);

const bridging: { stop: () => void }[] = [];
afterEach(() => {
  for (const { stop } of bridging.splice(0)) stop();
});

/** Of the cluster's configuration, who is to leave a node that is drained. */
const rules = () => ({ evictionStrategy: 'None', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } }) as const;

const newInstance = async (name: string, phase = 'Running', spec: object = {}): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachineInstance', {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: {
        ...{ namespace, name },
        ownerReferences: [
          { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: `vm-${name}`, controller: true },
        ],
      },
      spec: { domain: { memory: { guest: '64Mi' }, devices: {} }, ...spec },
      status: { phase, nodeName: 'node-a' },
    }),
  );
const newMigration = async (vmiName: string, spec: object = {}): Promise<ObjectRef> =>
  refOf(
    await kube.create(KIND, {
      apiVersion: 'kubevirt.io/v1',
      kind: KIND,
      metadata: { namespace, generateName: `${vmiName}-` },
      spec: { vmiName, ...spec },
    }),
  );
const read = (ref: ObjectRef) => kube.get(KIND, ref);
const running = async (name: string) => {
  const vmi = await newInstance(name);
  return { vmi, migration: await newMigration(name) };
};
const report = (migration: ObjectRef, more: Partial<MigrationReport>): MigrationReport => ({
  ...{ migration, phase: 'Pending', phaseTimes: [] },
  ...more,
});
const startedWith = async (workflowId: string): Promise<unknown> => {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return payload == null ? undefined : defaultPayloadConverter.fromPayload(payload);
};
const signalsTo = async (workflowId: string): Promise<unknown[]> => {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const payload = signal?.input?.payloads?.[0];
    return payload == null ? [] : [defaultPayloadConverter.fromPayload(payload)];
  });
};
/** Informers, bridge and courier, as the leader runs them. */
const startBridge = async (): Promise<{ bridge: Bridge; informers: Informers }> => {
  const stopping = new AbortController();
  const bridge = new Bridge({
    deliver: newCourier({ kube, workflows, rules }),
    instances: () => [],
    nodes: () => [],
    replicaSets: () => [],
    virtualMachines: () => [],
    rules,
    log,
  });
  const informers = createInformers(server.rest, log, (change) => bridge.changed(change));
  const watching = Object.values(informers).map((informer) => informer.run(stopping.signal));
  bridging.push({
    stop: () => {
      bridge.stop();
      stopping.abort();
      void Promise.allSettled(watching);
    },
  });
  await Promise.all(Object.values(informers).map(({ synced }) => synced));
  return { bridge, informers };
};

test('a VMIM starts its workflow, its deletion is told, and a terminated one is found by the sweep and run again', async () => {
  const { bridge, informers } = await startBridge();
  const { vmi, migration } = await running('bridged');
  const id = migrationId(migration);
  await until('its workflow runs', () => workflows.isRunning(id));
  const input: MigrateInput = {
    ...{ entity: instanceId(vmi), vmi, migration, attempt: 1 },
    vm: { name: 'bridged', uid: 'vm-bridged' },
  };
  expect(await startedWith(id)).toEqual(input);
  expect(await signalsTo(id)).toMatchObject([{ migration, vmiName: 'bridged', deleting: false }]);

  await activities.admitMigration({ vmi, migration });
  await kube.remove(KIND, migration, { uid: migration.uid });
  await until('the deletion is told', async () => (await signalsTo(id)).length === 2);
  expect((await signalsTo(id))[1]).toMatchObject({ deleting: true });

  await client.workflow.getHandle(id).terminate('test');
  const sweep = async (): Promise<void> => {
    const objects = {
      virtualMachines: informers.VirtualMachine.list(),
      instances: informers.VirtualMachineInstance.list(),
      migrations: informers.VirtualMachineInstanceMigration.list(),
      replicaSets: [],
      nodes: informers.Node.list(),
    };
    // A minute later: what is young may have a workflow that visibility does not show yet.
    bridge.insist(
      planSweep({ ...objects, rules: rules(), running: await runningWorkflows(client), now: Date.now() + 60_000 })
        .deliveries,
    );
  };
  await until('visibility knows that it ended', async () => !(await runningWorkflows(client)).has(id));
  await sweep();
  await until('it runs again', () => workflows.isRunning(id));

  await activities.publishMigration(report(migration, { phase: 'Failed', abort: 'succeeded' }));
  expect(await read(migration)).toBeUndefined();
  await until('that it is gone is told', async () =>
    (await signalsTo(id)).some((facts) => (facts as { gone?: boolean }).gone),
  );
});

test('a migration of a VMI that does not exist, or came later, is started all the same, and refused', async () => {
  const migration = await newMigration('late');
  const created = Date.parse((await read(migration))?.metadata?.creationTimestamp ?? '');
  await until('the next second', () => Date.now() >= created + 1000);
  await newInstance('late');
  const id = migrationId(migration);
  await newCourier({ kube, workflows, rules })({
    ...{ kind: 'ownMigration', key: id, workflowId: id, digest: '' },
    ref: migration,
  });
  const vmi = { namespace, name: 'late', uid: '' };
  expect(await startedWith(id)).toEqual({ entity: instanceId(vmi), vmi, migration, attempt: 1 });
  await expect(activities.admitMigration({ vmi, migration })).rejects.toMatchObject({ type: 'NotMigratable' });
});

test('a migration that retries another one is started with the id of that', async () => {
  const failed = await newMigration('failed-before');
  const { migration } = await running('retried');
  const patch = { metadata: { annotations: { [RETRY_OF_ANNOTATION]: failed.name } } };
  await kube.mergePatch(KIND, migration, patch);
  const id = migrationId(migration);
  await newCourier({ kube, workflows, rules })({
    ...{ kind: 'ownMigration', key: id, workflowId: id, digest: '' },
    ref: migration,
  });
  expect(await startedWith(id)).toMatchObject({ migration, retryOf: migrationId(failed) });
});

test('admission marks the VMIM and says how to migrate; twice is once', async () => {
  const { vmi, migration } = await running('admitted');
  const admitted = await activities.admitMigration({ vmi, migration });
  expect(admitted).toMatchObject({
    facts: { migration, vmiName: 'admitted', finalizers: [FINALIZER] },
    options: { completionTimeoutPerGiB: 150, allowPostCopy: false },
    priority: 0,
    timeouts: { unschedulable: 300, pending: 900 },
  });
  const marked = await read(migration);
  expect(marked?.metadata?.labels).toEqual({ 'kubevirt.io/vmi-name': 'admitted' });
  expect(marked?.metadata?.ownerReferences).toMatchObject([{ kind: 'VirtualMachineInstance', uid: vmi.uid }]);
  await expect(activities.admitMigration({ vmi, migration })).resolves.toEqual(admitted);
  expect((await read(migration))?.metadata?.resourceVersion).toBe(marked?.metadata?.resourceVersion);
});

test.each<[string, string, object, object, RegExp]>([
  ['that starts', 'Scheduled', {}, {}, /NotMigratable.*phase is Scheduled/],
  ['that has ended', 'Succeeded', {}, {}, /NotMigratable.*phase is Succeeded/],
  [
    'with a claim that is not shared',
    'Running',
    { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'lost' } }] },
    {},
    /NotMigratable.*DisksNotLiveMigratable.*lost/,
  ],
  ['for a node that is not there', 'Running', {}, { addedNodeSelector: { rack: '9' } }, /NotMigratable.*rack=9/],
  ['with a priority that nobody knows', 'Running', {}, { priority: 'urgent' }, /InvalidSpec.*spec\.priority/],
])('refused: a VMI %s', async (what, phase, vmiSpec, spec, why) => {
  const name = what.replaceAll(/\W+/g, '-');
  const vmi = await newInstance(name, phase, vmiSpec);
  const migration = await newMigration(name, spec);
  const refusal = await activities.admitMigration({ vmi, migration }).catch((error: unknown) => error);
  const { type, message } = refusal as { type: string; message: string };
  expect(`${type}: ${message}`).toMatch(why);
  expect((await read(migration))?.metadata?.finalizers).toBeUndefined();
});

test('of two migrations the older goes on, and the younger ends at once; one that has begun is not refused again', async () => {
  const { vmi, migration: first } = await running('twice');
  const second = await newMigration('twice');
  // Objects of one second are in the order of their uids.
  const created = [await read(first), await read(second)].map((vmim) => vmim?.metadata?.creationTimestamp ?? '');
  const isInOrder = (created[0] ?? '') < (created[1] ?? '') || first.uid < second.uid;
  const [older, younger] = isInOrder ? [first, second] : [second, first];
  await activities.admitMigration({ vmi, migration: older });
  await expect(activities.admitMigration({ vmi, migration: younger })).rejects.toMatchObject({
    type: 'OperationUnderWay',
  });
  await activities.publishMigration(report(younger, { phase: 'Running' }));
  await expect(activities.admitMigration({ vmi, migration: younger })).resolves.toMatchObject({ priority: 0 });
});

test('status as the workflow reports it; the end lets the VMIM go and is told as an Event', async () => {
  const { vmi, migration } = await running('published');
  await activities.admitMigration({ vmi, migration });
  const at = '2026-01-01T00:00:01Z';
  const scheduling = report(migration, {
    phase: 'Scheduling',
    phaseTimes: [
      { phase: 'Pending', at },
      { phase: 'Scheduling', at },
    ],
    source: { name: 'a', uid: 'pa', node: 'node-a' },
    failure: { type: 'QuotaExceeded', message: 'no room' },
  });
  await activities.publishMigration(scheduling);
  const waiting = (await read(migration))?.status;
  expect(waiting).toMatchObject({
    phase: 'Scheduling',
    phaseTransitionTimestamps: [{ phase: 'Pending' }, { phase: 'Scheduling', phaseTransitionTimestamp: at }],
    migrationState: { migrationUid: migration.uid, sourceNode: 'node-a' },
  });
  expect(waiting?.conditions?.map(({ type }) => type)).toEqual(['Waiting', 'migrationRejectedByResourceQuota']);
  const version = (await read(migration))?.metadata?.resourceVersion;
  await activities.publishMigration(scheduling);
  expect((await read(migration))?.metadata?.resourceVersion).toBe(version);

  const { failure: _, ...rest } = scheduling;
  await activities.publishMigration({ ...rest, phase: 'Succeeded', target: { name: 'b', uid: 'pb', node: 'node-b' } });
  const over = await read(migration);
  expect(over?.status).toMatchObject({ phase: 'Succeeded', conditions: [], migrationState: { completed: true } });
  expect(over?.metadata?.finalizers).toBeUndefined();
  await activities.publishMigration(scheduling);
  expect((await read(migration))?.status?.phase).toBe('Succeeded');
  const events = (await server.rest.send({ method: 'GET', path: `/api/v1/namespaces/${namespace}/events` })) as {
    items: { reason: string; involvedObject: { uid: string } }[];
  };
  const told = events.items.filter(({ involvedObject: { uid } }) => uid === migration.uid || uid === vmi.uid);
  expect(told.map(({ reason }) => reason).sort()).toEqual(['Migrated', 'SuccessfulMigration']);
});

test('of the migrations of a VMI that are over, five stay', async () => {
  const vmi = await newInstance('often');
  const all: ObjectRef[] = [];
  for (let n = 0; n < 7; n += 1) {
    const migration = await newMigration('often');
    await activities.admitMigration({ vmi, migration });
    await activities.publishMigration(
      report(migration, { phase: 'Failed', failure: { type: 'Cancelled', message: 'x' } }),
    );
    all.push(migration);
  }
  const ongoing = await newMigration('often');
  const left = (await kube.list(KIND, { namespace })).filter(({ spec }) => spec.vmiName === 'often');
  expect(left).toHaveLength(6);
  expect(left.map(({ metadata }) => metadata?.uid)).toContain(ongoing.uid);
});

test('what a migration is to do cannot be changed, and a field of a wrong type is refused', async () => {
  const { migration } = await running('fixed');
  await expect(kube.mergePatch(KIND, migration, { spec: { vmiName: 'other' } })).rejects.toThrow(/cannot be changed/);
  await expect(newMigration('fixed', { priority: 7 })).rejects.toThrow(/spec\.priority/);
});

test('permits: the scheduler is started and asked; a holder is over when its object says so and its workflow has ended', async () => {
  const { vmi, migration } = await running('permitted');
  const holder = migrationId(migration);
  const asked = { holder, migration, sourceNode: 'node-a', priority: 0 };
  await activities.requestPermit(asked);
  expect(await signalsTo(MIGRATION_SCHEDULER_ID)).toEqual([asked]);
  await activities.returnPermit({ holder });
  expect(await signalsTo(MIGRATION_SCHEDULER_ID)).toEqual([asked, { holder }]);
  await client.workflow.getHandle(MIGRATION_SCHEDULER_ID).terminate('test');
  await activities.returnPermit({ holder });

  const known = async (): Promise<unknown> => (await activities.observePermits({ holders: [holder] })).holders;
  await newCourier({ kube, workflows, rules })({
    kind: 'ownMigration',
    key: holder,
    workflowId: holder,
    digest: '',
    ref: migration,
  });
  await activities.admitMigration({ vmi, migration });
  const source = { name: 'a', uid: 'pa', node: 'node-a' };
  await activities.publishMigration(report(migration, { phase: 'Running', source }));
  const held = { holder, migration, sourceNode: 'node-a', over: false };
  const { limits, holders } = await activities.observePermits({});
  expect(limits).toEqual({ perCluster: 5, outboundPerNode: 2 });
  expect(holders).toContainEqual(held);
  expect(await known()).toEqual([held]);
  await activities.publishMigration(report(migration, { phase: 'Succeeded', source }));
  expect(await known()).toEqual([held]);
  await client.workflow.getHandle(holder).terminate('test');
  expect(await known()).toEqual([{ ...held, over: true }]);
  expect((await activities.observePermits({})).holders).not.toContainEqual(held);
});
