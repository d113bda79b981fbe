import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nodeFacts } from '../../../activities/facts/node.ts';
import { liveFence } from '../../../activities/fencing.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { Fence, NodeRef, NodeReport } from '../../../api/contract/nodes.ts';
import { FENCED_TAINT, HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from '../../../api/contract/nodes.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import { fencePatch, undoPatch } from '../../../cli/fence.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { noWorkflows } from '../../support/no-workflows.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
const signals: string[] = [];
const HEARTBEAT = '2026-01-01T00:00:00Z';

beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube, {
    workflows: {
      ...noWorkflows,
      signal: (workflowId, signal) => Promise.resolve(void signals.push(`${signal} ${workflowId}`)),
      lastPolled: () => Promise.resolve(undefined),
    },
  });
}, 120_000);
afterAll(() => server.close(), 30_000);

let count = 0;
const newNode = async (): Promise<NodeRef> => {
  count += 1;
  const { metadata } = await kube.create('Node', {
    metadata: {
      name: `node-${count}`,
      annotations: { [HEARTBEAT_ANNOTATION]: HEARTBEAT },
      labels: { [SCHEDULABLE_LABEL]: 'true' },
    },
  });
  return { name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
};
const read = async ({ name }: NodeRef): Promise<Node> => (await kube.get('Node', { name })) ?? {};

test('a silent node is closed, and one that was heard of in between is not', async () => {
  const node = await newNode();
  await activities.closeNode({ node, heartbeat: '2026-01-01T00:01:00Z' });
  expect((await read(node)).metadata?.labels?.[SCHEDULABLE_LABEL]).toBe('true');
  for (let twice = 0; twice < 2; twice++) await activities.closeNode({ node, heartbeat: HEARTBEAT });
  expect((await read(node)).metadata?.labels?.[SCHEDULABLE_LABEL]).toBe('false');
  const isTainted = async (): Promise<boolean> =>
    (await read(node)).spec?.taints?.some(({ key }) => key === FENCED_TAINT) ?? false;
  expect(await isTainted()).toBe(false);
  for (let twice = 0; twice < 2; twice++) await activities.closeNode({ node, heartbeat: 'any', fenced: true });
  expect(await isTainted()).toBe(true);
  for (let twice = 0; twice < 2; twice++) await activities.openNode({ node });
  expect(await isTainted()).toBe(false);
  await activities.closeNode({ node: { ...node, name: 'gone' }, heartbeat: HEARTBEAT });
});

test('what virtflow fence writes is a fence, undone it is none, and the record stays until the worker is heard of', async () => {
  const node = await newNode();
  await kube.jsonPatch('Node', node, fencePatch(await read(node), new Date()) ?? []);
  const fence = await liveFence(kube, node.name);
  expect(fence).toEqual({ by: 'operator', nodeUid: node.uid, bootId: '' });
  for (let twice = 0; twice < 2; twice++) await activities.recordFence({ node, fence: fence as Fence });

  await kube.jsonPatch('Node', node, undoPatch(await read(node)) ?? []);
  expect(await liveFence(kube, node.name)).toBeUndefined();
  expect(await activities.liftFence({ node })).toEqual({ waits: true });
  const later = new Date(Date.now() + 60_000).toISOString();
  await kube.mergePatch('Node', node, { metadata: { annotations: { [HEARTBEAT_ANNOTATION]: later } } });
  for (let twice = 0; twice < 2; twice++) expect(await activities.liftFence({ node })).toEqual({ waits: false });
});

test('a deleted Node is fenced for good, until one registers again', async () => {
  const node = await newNode();
  await kube.remove('Node', node, { uid: node.uid });
  const deleted = await activities.assessDeletedNode({ node, bootId: 'b1', heartbeat: HEARTBEAT });
  expect(deleted).toEqual({ outcome: 'fenced', fence: { by: 'nodeDeleted', nodeUid: node.uid, bootId: 'b1' } });
  expect(await liveFence(kube, node.name)).toMatchObject({ by: 'nodeDeleted' });
  await kube.create('Node', { metadata: { name: node.name } });
  expect(await liveFence(kube, node.name)).toBeUndefined();
  expect(await activities.assessDeletedNode({ node, bootId: 'b1', heartbeat: HEARTBEAT })).toEqual({
    outcome: 'registered',
  });
});

test('instances of the node are told until their status shows that they have heard', async () => {
  const node = await newNode();
  const conditions = [{ type: 'NodeUnresponsive', status: 'True' }];
  const vmis = [
    { name: 'untold', status: { phase: 'Running', nodeName: node.name } },
    { name: 'told', status: { phase: 'Running', nodeName: node.name, conditions } },
    { name: 'over', status: { phase: 'Failed', nodeName: node.name } },
  ];
  for (const { name, status } of vmis)
    await kube.create('VirtualMachineInstance', {
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
      metadata: { namespace: 'default', name, labels: { 'kubevirt.io/nodeName': node.name } },
      ...{ spec: { domain: { devices: {} } }, status },
    });
  const told = async (standing: NodeReport['standing']): Promise<string[]> => {
    signals.length = 0;
    const report = { node: node.name, standing, message: 'so it is' };
    const names = (await activities.tellInstances({ report })).told.map((id) => id.split('/')[2] ?? '');
    expect(signals).toHaveLength(names.length);
    return names.sort();
  };
  expect(await told('silent')).toEqual(['untold']);
  expect(await told('responsive')).toEqual(['told']);
  expect(await told('fenced')).toEqual(['told', 'untold']);
});

test('a Pod on a fenced node is proven by the fence, and goes by force', async () => {
  const node = await newNode();
  const { metadata } = await kube.create('Pod', {
    metadata: { namespace: 'default', name: 'virt-launcher-x' },
    spec: { nodeName: node.name, terminationGracePeriodSeconds: 60, containers: [{ name: 'compute', image: 'x' }] },
  });
  const vmi = { namespace: 'default', name: 'x', uid: 'vmi-x' };
  const pod = { name: 'virt-launcher-x', uid: metadata?.uid ?? '', node: node.name };
  expect((await activities.observePod({ vmi, pod, evidence: true })).fenced).toBeUndefined();
  expect(await activities.deletePod({ vmi, pod })).toMatchObject({ deleting: true });
  expect(await activities.deletePod({ vmi, pod })).toMatchObject({ deleting: true });

  await kube.mergePatch('Node', node, {
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'x', effect: 'NoExecute' }] },
  });
  expect(nodeFacts(await read(node), Date.now()).fence?.by).toBe('outOfService');
  expect((await activities.observePod({ vmi, pod, evidence: true })).fenced).toContain('out-of-service');
  expect(await activities.deletePod({ vmi, pod })).toMatchObject({ gone: true });
});
