import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { SignalWithStart } from '../../../activities/temporal/port.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { NodeRef } from '../../../api/contract/nodes.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { evacuationId } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { newCourier } from '../../../workers/controller/bridge/courier.ts';
import { ofEvacuation } from '../../../workers/controller/bridge/deliveries.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';
import { noWorkflows } from '../../support/no-workflows.ts';

/** Emptying a node, on a real API server. */
const KIND = 'VirtualMachineInstanceMigration';
const namespace = 'default';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube);
}, 120_000);
afterAll(() => server.close(), 30_000);

let count = 0;
const newNode = async (): Promise<NodeRef> => {
  count += 1;
  const { metadata } = await kube.create('Node', { metadata: { name: `node-${count}` } });
  return { name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
};
/** An instance that runs on the node and is asked to leave it. */
const newInstance = async (
  { name: node }: NodeRef,
  status: object = { evacuationNodeName: node },
): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachineInstance', {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { namespace, name: `web-${count}`, labels: { 'kubevirt.io/nodeName': node } },
      spec: { evictionStrategy: 'LiveMigrate', domain: { memory: { guest: '64Mi' }, devices: {} } },
      status: { ...instanceStatus(node), ...status },
    }),
  );
const instanceStatus = (nodeName: string) => ({
  ...{ phase: 'Running', nodeName },
  conditions: [{ type: 'LiveMigratable', status: 'True' }],
});
const asked = async () => {
  const node = await newNode();
  return { node, vmi: await newInstance(node) };
};
const migrationsOf = async ({ name }: ObjectRef): Promise<VirtualMachineInstanceMigration[]> =>
  (await kube.list(KIND, { namespace })).filter(({ spec }) => spec.vmiName === name);
const enter = (vmim: VirtualMachineInstanceMigration, phase: string, more: object = {}) =>
  kube.mergePatch(KIND, refOf(vmim), { status: { phase, ...more } }, { subresource: 'status' });
const only = async (vmi: ObjectRef): Promise<VirtualMachineInstanceMigration> => {
  const [vmim] = await migrationsOf(vmi);
  if (vmim === undefined) throw new Error(`${vmi.name} has no migration`);
  return vmim;
};
interface Told {
  reason: string;
  involvedObject: { uid?: string };
}
const eventsOf = async ({ uid }: ObjectRef): Promise<string[]> => {
  const path = `/api/v1/namespaces/${namespace}/events`;
  const { items } = (await server.rest.send({ method: 'GET', path })) as { items: Told[] };
  return items.filter(({ involvedObject }) => involvedObject.uid === uid).map(({ reason }) => reason);
};

test('an instance that is asked to leave gets one migration, however often it is created', async () => {
  const { node, vmi } = await asked();
  expect(await activities.observeEvacuation({ node })).toEqual({
    ...{ cordoned: false, leaving: [{ vmi, by: 'eviction' }], unwanted: [] },
  });
  const first = await activities.createEvacuation({ node, vmi });
  expect(await activities.createEvacuation({ node, vmi })).toEqual(first);
  const [vmim, ...more] = await migrationsOf(vmi);
  expect(more).toEqual([]);
  expect(vmim).toMatchObject({
    metadata: { name: first?.migration, annotations: { 'kubevirt.io/evacuationMigration': node.name } },
    spec: { vmiName: vmi.name, priority: 'system-critical' },
  });
  const { leaving } = await activities.observeEvacuation({ node });
  expect(leaving).toMatchObject([{ migration: { name: first?.migration, phase: 'Pending' } }]);
  expect(await eventsOf(vmi)).toEqual(['SuccessfulCreate']);
});

test('after a failed migration it gets another one, and that this waits is told once', async () => {
  const { node, vmi } = await asked();
  await activities.createEvacuation({ node, vmi });
  const failed = await enter(await only(vmi), 'Failed', { migrationState: { failureReason: 'no room' } });
  const { leaving } = await activities.observeEvacuation({ node });
  expect(leaving).toMatchObject([{ failed: { count: 1, name: failed.metadata?.name, message: 'no room' } }]);
  const backoff = { vmi, failed: failed.metadata?.name ?? '', until: '2026-01-01T00:00:20Z' };
  for (let twice = 0; twice < 2; twice++) await activities.tellBackoff(backoff);
  await activities.createEvacuation({ node, vmi });
  expect(await migrationsOf(vmi)).toHaveLength(2);
  expect((await eventsOf(vmi)).sort()).toEqual(['MigrationBackoff', 'SuccessfulCreate', 'SuccessfulCreate']);
});

test('one that need not leave gets none', async () => {
  const node = await newNode();
  const vmi = await newInstance(node, {});
  expect(await activities.createEvacuation({ node, vmi })).toBeUndefined();
  expect(await activities.createEvacuation({ node: { ...node, uid: 'another' }, vmi })).toBeUndefined();
  expect(await migrationsOf(vmi)).toEqual([]);
});

test('a request that is taken back leaves a migration that nobody wants; it is cancelled unless it runs', async () => {
  const { node, vmi } = await asked();
  await activities.createEvacuation({ node, vmi });
  await activities.withdrawEvacuation({ node: { ...node, name: 'another' }, vmi });
  expect((await activities.observeEvacuation({ node })).leaving).toHaveLength(1);
  for (let twice = 0; twice < 2; twice++) await activities.withdrawEvacuation({ node, vmi });
  expect((await kube.get('VirtualMachineInstance', vmi))?.status).not.toHaveProperty('evacuationNodeName');
  const { leaving, unwanted } = await activities.observeEvacuation({ node });
  expect({ leaving, unwanted }).toEqual({ leaving: [], unwanted: [refOf(await only(vmi))] });
  const migration = refOf(await enter(await only(vmi), 'Running'));
  await activities.cancelEvacuation({ node, migration });
  expect((await activities.observeEvacuation({ node })).unwanted).toEqual([]);
  expect(await migrationsOf(vmi)).toHaveLength(1);
  await enter(await only(vmi), 'Scheduling');
  for (let twice = 0; twice < 2; twice++) await activities.cancelEvacuation({ node, migration });
  expect(await migrationsOf(vmi)).toEqual([]);
});

test('the taint that empties a node asks everybody who migrates when evicted', async () => {
  const node = await newNode();
  const vmi = await newInstance(node, {});
  await kube.mergePatch('Node', node, { spec: { taints: [{ key: 'kubevirt.io/drain', effect: 'NoSchedule' }] } });
  expect((await activities.observeEvacuation({ node })).leaving).toEqual([{ vmi, by: 'taint' }]);
  expect(await activities.createEvacuation({ node, vmi })).toBeDefined();
});

describe('the bridge', () => {
  const deliver = async ({ name, uid }: NodeRef) => {
    const started: SignalWithStart[] = [];
    const signalled: string[] = [];
    const courier = newCourier({
      kube,
      workflows: {
        ...noWorkflows,
        signalWithStart: (start) => Promise.resolve(void started.push(start)),
        signal: (workflowId, signal, args) =>
          Promise.resolve(void signalled.push(`${signal} ${args.length} ${workflowId}`)),
      },
      rules: () => ({ evictionStrategy: 'None', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } }),
    });
    await courier(ofEvacuation({ metadata: { name, uid } }));
    return { started, signalled };
  };

  test('starts the workflow of a node that somebody is to leave, also once more', async () => {
    const { node } = await asked();
    const { started, signalled } = await deliver(node);
    expect(signalled).toEqual([]);
    expect(started).toMatchObject([
      { workflowId: evacuationId(node), workflow: 'evacuateNode', args: [{ node }], againAfterCompletion: true },
    ]);
  });

  test('only tells the workflow of one that nobody is to leave, or that is gone', async () => {
    const node = await newNode();
    await newInstance(node, {});
    const told = `evacuationObserved 0 ${evacuationId(node)}`;
    expect(await deliver(node)).toEqual({ started: [], signalled: [told] });
    const gone = { ...node, uid: 'another' };
    expect((await deliver(gone)).started).toEqual([]);
  });
});
