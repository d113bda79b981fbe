import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { SignalWithStart } from '../../../activities/temporal/port.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { replicaSetId } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { newCourier } from '../../../workers/controller/bridge/courier.ts';
import { ofReplicaSet } from '../../../workers/controller/bridge/deliveries.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';
import { noWorkflows } from '../../support/no-workflows.ts';

/** Replica sets, on a real API server. */
const KIND = 'VirtualMachineInstanceReplicaSet';
const namespace = 'default';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube, { configuration: { network: { defaultNetworkInterface: 'masquerade' } } });
}, 120_000);
afterAll(() => server.close(), 30_000);

let count = 0;
const spec = { domain: { memory: { guest: '64Mi' }, devices: {} } };
const newSet = async (more: object = {}): Promise<ObjectRef> => {
  const name = `set${(count += 1)}`;
  const labels = { app: name };
  return refOf(
    await kube.create(KIND, {
      ...{ apiVersion: 'kubevirt.io/v1', kind: KIND, metadata: { namespace, name } },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec }, ...more },
    }),
  );
};
const newVmi = async (name: string, metadata: object): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachineInstance', {
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
      metadata: { namespace, name, ...metadata },
      spec,
    }),
  );
const vmisOf = async ({ name }: ObjectRef): Promise<VirtualMachineInstance[]> =>
  kube.list('VirtualMachineInstance', { namespace, labelSelector: `app=${name}` });
const owners = ({ metadata }: VirtualMachineInstance): string[] =>
  (metadata?.ownerReferences ?? []).map(({ uid }) => uid);

test('its VMIs are created once, by their numbers, and deleted by uid', async () => {
  const set = await newSet();
  for (let twice = 0; twice < 2; twice++) await activities.createReplicas({ set, numbers: [0, 1] });
  const vmis = await vmisOf(set);
  expect(vmis).toHaveLength(2);
  expect(vmis.map(owners)).toEqual([[set.uid], [set.uid]]);
  expect(vmis[0]?.spec.domain.firmware?.uuid).toBeDefined();
  expect(vmis[0]?.metadata?.finalizers).toContain('kubevirt.io/foregroundDeleteVirtualMachine');
  const { replicas, wanted } = await activities.claimReplicas(set);
  expect(wanted).toBe(2);
  expect(replicas.map(({ standing }) => standing)).toEqual(['active', 'active']);
  const [first] = replicas;
  if (first === undefined) throw new Error('it has no VMI');
  await activities.deleteReplicas({ set, vmis: [{ ...first.vmi, uid: 'another' }] });
  expect((await activities.claimReplicas(set)).replicas.map(({ standing }) => standing)).toEqual(['active', 'active']);
  for (let twice = 0; twice < 2; twice++) await activities.deleteReplicas({ set, vmis: [first.vmi] });
  expect((await activities.claimReplicas(set)).replicas.map(({ standing }) => standing).sort()).toEqual([
    'active',
    'leaving',
  ]);
});

test('it takes on what it selects and nobody owns, and lets go what it does not select any more', async () => {
  const set = await newSet();
  const labels = { app: set.name };
  const orphan = await newVmi(`${set.name}-orphan`, { labels });
  await newVmi(`${set.name}-owned`, {
    labels,
    ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'v', uid: 'vm', controller: true }],
  });
  const { replicas } = await activities.claimReplicas(set);
  expect(replicas.map(({ vmi }) => vmi.name)).toEqual([orphan.name]);
  await kube.mergePatch('VirtualMachineInstance', orphan, { metadata: { labels: { app: 'other' } } });
  expect((await activities.claimReplicas(set)).replicas).toEqual([]);
  const left = await kube.get('VirtualMachineInstance', orphan);
  expect(left?.metadata?.ownerReferences ?? []).toEqual([]);
});

test('one whose template it does not select says so, and would not create VMIs without end', async () => {
  const set = await newSet({ selector: { matchLabels: { app: 'other' } } });
  expect((await activities.claimReplicas(set)).invalid).toContain('spec.selector');
});

test('one that is gone is known to be', async () => {
  const set = await newSet();
  expect(await activities.claimReplicas({ ...set, uid: 'another' })).toMatchObject({ gone: true });
  await expect(activities.createReplicas({ set: { ...set, uid: 'another' }, numbers: [0] })).rejects.toMatchObject({
    type: 'ObjectGone',
  });
});

test('its status is what kubectl scale and an autoscaler read', async () => {
  const set = await newSet();
  const report = { replicas: 2, readyReplicas: 1, paused: true };
  for (let twice = 0; twice < 2; twice++) await activities.publishReplicaSet({ set, report });
  expect((await kube.get(KIND, set))?.status).toMatchObject({
    ...{ replicas: 2, readyReplicas: 1, labelSelector: `app=${set.name}` },
    conditions: [{ type: 'ReplicaPaused', status: 'True' }],
  });
  const path = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstancereplicasets/${set.name}/scale`;
  expect(await server.rest.send({ method: 'GET', path })).toMatchObject({
    spec: { replicas: 2 },
    status: { replicas: 2, selector: `app=${set.name}` },
  });
  await activities.publishReplicaSet({ set, report: { ...report, paused: false } });
  expect((await kube.get(KIND, set))?.status?.conditions ?? []).toEqual([]);
});

test('the bridge starts its workflow while it exists, and then only tells it', async () => {
  const set = await newSet();
  const started: SignalWithStart[] = [];
  const signalled: string[] = [];
  const courier = newCourier({
    kube,
    workflows: {
      ...noWorkflows,
      signalWithStart: (start) => Promise.resolve(void started.push(start)),
      signal: (workflowId) => Promise.resolve(void signalled.push(workflowId)),
    },
    rules: () => ({ evictionStrategy: 'None', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } }),
  });
  const found = await kube.get(KIND, set);
  if (found === undefined) throw new Error('it is gone');
  await courier(ofReplicaSet(found));
  expect(started).toMatchObject([{ workflow: 'replicaSet', workflowId: replicaSetId(set), args: [{ set }] }]);
  await kube.remove(KIND, set, { uid: set.uid });
  await courier(ofReplicaSet(found));
  expect(started).toHaveLength(1);
  expect(signalled).toEqual([replicaSetId(set)]);
});
