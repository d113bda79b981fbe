import { expect, test } from '@jest/globals';
import { instanceFacts } from '../../../../../activities/facts/instance.ts';
import { podFacts } from '../../../../../activities/facts/pod.ts';
import { virtualMachineFacts } from '../../../../../activities/facts/virtual-machine.ts';
import type { Node, PersistentVolumeClaim, ResourceQuota } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import * as relevance from '../../../../../workers/controller/bridge/relevance.ts';
import { pod, vm, vmi } from './objects.ts';

const own = (object: VirtualMachineInstance) => relevance.instanceDigest(instanceFacts(object));
const owner = (object: VirtualMachineInstance) => relevance.ownedInstanceDigest(instanceFacts(object), object);
const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
const migrating = (more: object = {}) => ({ migrationState: { startTimestamp: 'a', ...more } });
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] };
const scheduled = { conditions: [{ type: 'PodScheduled', status: 'True' }] };
const agent = { conditions: [{ type: 'AgentConnected', status: 'True' }] };

test.each<[string, VirtualMachineInstance, VirtualMachineInstance, boolean, boolean]>([
  ['a resourceVersion', vmi('Running'), vmi('Running', { resourceVersion: '2' }), false, false],
  ['a phase (the own entity wrote it)', vmi('Scheduled'), vmi('Running'), false, true],
  ['readiness (the own entity wrote it)', vmi('Running'), vmi('Running', {}, ready), false, true],
  ['a condition that the VM mirrors', vmi('Running'), vmi('Running', {}, agent), false, true],
  ['a migration that begins', vmi('Running'), vmi('Running', {}, migrating()), false, true],
  [
    'a migration that ends',
    vmi('Running', {}, migrating()),
    vmi('Running', {}, migrating({ endTimestamp: 'b' })),
    false,
    true,
  ],
  [
    'a migration under way',
    vmi('Running', {}, migrating()),
    vmi('Running', {}, migrating({ mode: 'x' })),
    false,
    false,
  ],
  [
    'a step of a start',
    vmi('Pending'),
    vmi('Scheduled', {}, { conditions: [{ type: 'Ready', status: 'False' }] }),
    false,
    false,
  ],
  ['what holds a start up', vmi('Scheduling'), vmi('Scheduling', {}, unschedulable), false, true],
  [
    'that nothing holds it up any more',
    vmi('Scheduling', {}, unschedulable),
    vmi('Scheduled', {}, scheduled),
    false,
    true,
  ],
  ['a label', vmi('Running'), vmi('Running', { labels: { a: 'b' } }), false, false],
  ['a finalizer', vmi('Running'), vmi('Running', { finalizers: ['f'] }), true, false],
  ['a deletion', vmi('Running'), vmi('Running', { deletionTimestamp: '2026-01-02T00:00:00Z' }), true, true],
])('of a VMI, %s', (_, before, after, tellsOwn, tellsOwner) => {
  expect(own(before) !== own(after)).toBe(tellsOwn);
  expect(owner(before) !== owner(after)).toBe(tellsOwner);
});

test("of a VM, what the user asks for, not the entity's own status", () => {
  const digest = (object: ReturnType<typeof vm>) => relevance.vmDigest(virtualMachineFacts(object));
  const status = { ...vm({ resourceVersion: '2' }), status: { printableStatus: 'Running', ready: true } };
  expect(digest(status)).toBe(digest(vm()));
  const request = { ...vm(), status: { stateChangeRequests: [{ action: 'Stop', uid: 'i1' }] } };
  expect(digest(request)).not.toBe(digest(vm()));
  expect(digest(vm({ generation: 2 }))).not.toBe(digest(vm()));
});

test("of a Pod, its state, not the kubelet's times", () => {
  const digest = (object: ReturnType<typeof pod>) => relevance.podDigest(podFacts(object));
  const probed = pod('Running', { resourceVersion: '9' });
  probed.status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False', lastProbeTime: '2026-01-01T00:00:00Z' }],
  };
  expect(digest(probed)).toBe(digest(pod('Running')));
  expect(digest(pod('Failed'))).not.toBe(digest(pod('Running')));
});

const claim = (phase: string, uid = 'c1'): PersistentVolumeClaim => ({
  metadata: { name: 'claim', uid },
  status: { phase },
});

const filled = (): PersistentVolumeClaim => ({
  ...claim('Bound'),
  metadata: { name: 'claim', uid: 'c1', annotations: { 'cdi.kubevirt.io/storage.pod.phase': 'Succeeded' } },
});

test.each<[string, PersistentVolumeClaim | undefined, PersistentVolumeClaim, boolean]>([
  ['came', undefined, claim('Pending'), true],
  ['was bound', claim('Pending'), claim('Bound'), true],
  ['was made anew', claim('Bound'), claim('Bound', 'c2'), true],
  ['was filled', claim('Bound'), filled(), true],
  ['stayed', filled(), filled(), false],
])('a claim that %s', (_, before, after, matters) => {
  expect(relevance.claimMatters(before, after)).toBe(matters);
});

const quota = (hard: string, used: string): ResourceQuota => ({
  spec: { hard: { pods: hard } },
  status: { used: { pods: used } },
});

test.each<[string, ResourceQuota | undefined, ResourceQuota | undefined, boolean]>([
  ['was raised', quota('1', '1'), quota('2', '1'), true],
  ['is used less', quota('1', '1'), quota('1', '0'), true],
  ['went', quota('1', '1'), undefined, true],
  ['stayed', quota('1', '1'), quota('1', '1'), false],
])('a quota that %s', (_, before, after, matters) => {
  expect(relevance.quotaMatters(before, after)).toBe(matters);
});

const node = (spec: Node['spec'], annotations = {}, labels = {}): Node => ({
  metadata: { annotations, labels },
  spec: spec ?? {},
});

test.each<[string, Node, boolean]>([
  ['a heartbeat', node({}, { 'kubevirt.io/heartbeat': 'x' }), false],
  ['a taint', node({ taints: [{ key: 'a', effect: 'NoExecute' }] }), true],
  ['cordoned', node({ unschedulable: true }), true],
  ['its worker serves', node({}, {}, { 'kubevirt.io/schedulable': 'true' }), true],
])('of a node, %s', (_, after, matters) => {
  expect(relevance.nodeMatters(node({}), after)).toBe(matters);
});
