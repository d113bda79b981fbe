import { expect, test } from '@jest/globals';
import { podFacts } from '../../../../activities/facts/pod.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../../../api/kubernetes/types.ts';

const container = (
  name: string,
  state: ContainerStatus['state'],
  more: Partial<ContainerStatus> = {},
): ContainerStatus => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: state ?? {},
  ...more,
});
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const terminated = (exitCode: number) => ({ terminated: { exitCode } });
const waiting = (reason: string) => ({ waiting: { reason } });

const pod = (status: PodStatus, containers = ['compute']): Pod => ({
  metadata: { name: 'p', uid: 'u', resourceVersion: '7', labels: { 'kubevirt.io/created-by': 'vmi-1' } },
  spec: { nodeName: 'node-a', containers: containers.map((name) => ({ name })) },
  status,
});

const disrupted = [{ type: 'DisruptionTarget', status: 'True' }];

test.each<[string, PodStatus, string[], boolean]>([
  ['running', { phase: 'Running', containerStatuses: [container('compute', running)] }, ['compute'], false],
  [
    'succeeded, compute terminated',
    { phase: 'Succeeded', containerStatuses: [container('compute', terminated(0))] },
    ['compute'],
    true,
  ],
  [
    'failed, compute terminated',
    { phase: 'Failed', containerStatuses: [container('compute', terminated(1))] },
    ['compute'],
    true,
  ],
  [
    'failed, but a sidecar is said to run',
    { phase: 'Failed', containerStatuses: [container('compute', terminated(1)), container('x', running)] },
    ['compute', 'x'],
    false,
  ],
  [
    'failed, a container has no status',
    { phase: 'Failed', containerStatuses: [container('compute', terminated(1))] },
    ['compute', 'x'],
    false,
  ],
  [
    'failed with a disruption: somebody else wrote the phase',
    { phase: 'Failed', conditions: disrupted, containerStatuses: [container('compute', terminated(1))] },
    ['compute'],
    false,
  ],
  ['failed without any status and without a reason', { phase: 'Failed' }, ['compute'], false],
  [
    'refused by the kubelet: device plugin not there',
    { phase: 'Failed', reason: 'UnexpectedAdmissionError' },
    ['compute'],
    true,
  ],
  ['refused by the kubelet: no room', { phase: 'Failed', reason: 'OutOfcpu' }, ['compute'], true],
  ['node lost', { phase: 'Failed', reason: 'NodeLost' }, ['compute'], false],
  [
    'an init container failed, compute was never created',
    {
      phase: 'Failed',
      initContainerStatuses: [container('init', terminated(1))],
      containerStatuses: [container('compute', waiting('PodInitializing'))],
    },
    ['compute'],
    true,
  ],
  [
    'compute waits although it ran before',
    {
      phase: 'Failed',
      containerStatuses: [container('compute', waiting('CrashLoopBackOff'), { restartCount: 1, containerID: 'c://1' })],
    },
    ['compute'],
    false,
  ],
  [
    'an unknown phase',
    { phase: 'Unknown', containerStatuses: [container('compute', terminated(0))] },
    ['compute'],
    false,
  ],
])('proven ended: %s', (_, status, containers, ended) => {
  expect(podFacts(pod(status, containers)).provenEnded).toBe(ended);
});

test.each<[string, ContainerStatus[], boolean]>([
  ['compute runs alone', [container('compute', running)], true],
  ['compute runs, not ready by its probe', [container('compute', running, { ready: false })], true],
  ['a sidecar is not ready', [container('compute', running), container('x', running)], false],
  ['all others are ready', [container('compute', running), container('x', running, { ready: true })], true],
  ['compute waits', [container('compute', waiting('ContainerCreating'))], false],
  ['no compute', [container('x', running, { ready: true })], false],
])('compute ready: %s', (_, containerStatuses, ready) => {
  expect(podFacts(pod({ phase: 'Running', containerStatuses })).computeReady).toBe(ready);
});

test('tells why a container cannot start, and not that one is on its way', () => {
  const stuck = { phase: 'Pending', containerStatuses: [container('disk', waiting('ImagePullBackOff'))] };
  expect(podFacts(pod(stuck)).waiting).toEqual({ container: 'disk', reason: 'ImagePullBackOff', message: '' });
  const onItsWay = { phase: 'Pending', containerStatuses: [container('compute', waiting('PodInitializing'))] };
  expect(podFacts(pod(onItsWay))).not.toHaveProperty('waiting');
});

test('tells that no node has room', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes' }];
  expect(podFacts(pod({ phase: 'Pending', conditions })).unschedulable).toEqual({
    reason: 'Unschedulable',
    message: '0/2 nodes',
  });
});

test('carries exit code, creator and attempt', () => {
  const ended = pod({
    phase: 'Failed',
    containerStatuses: [container('compute', { terminated: { exitCode: 137, reason: 'OOMKilled' } })],
  });
  const env = [{ name: 'VIRTFLOW_START_ATTEMPT', value: '3' }];
  ended.spec = { ...ended.spec, containers: [{ name: 'compute', env }] };
  expect(podFacts(ended)).toMatchObject({
    exitCode: 137,
    reason: 'OOMKilled',
    createdBy: 'vmi-1',
    attempt: 3,
    node: 'node-a',
  });
});

test('a target Pod tells of which migration', () => {
  const target = pod({ phase: 'Pending' });
  target.metadata = {
    ...target.metadata,
    labels: { ...target.metadata?.labels, 'kubevirt.io/migrationJobUID': 'mu' },
    annotations: { 'kubevirt.io/migrationJobName': 'm' },
  };
  expect(podFacts(target).migration).toEqual({ name: 'm', uid: 'mu' });
  expect(podFacts(pod({ phase: 'Pending' }))).not.toHaveProperty('migration');
});

const probed = (conditions: PodStatus['conditions'], readinessProbe?: object): Pod => {
  const facts = pod({ phase: 'Running', ...(conditions === undefined ? {} : { conditions }) });
  const containers = [
    { name: 'compute', image: 'launcher:1', ...(readinessProbe === undefined ? {} : { readinessProbe }) },
  ];
  return { ...facts, spec: { ...facts.spec, containers } };
};
const condition = (status: string, reason?: string) => [
  { type: 'Ready', status, ...(reason === undefined ? {} : { reason, message: 'm' }) },
];

test.each<[string, PodStatus['conditions'], string | undefined]>([
  ['has not answered yet', [], 'PodConditionMissing'],
  ['fails', condition('False', 'ContainersNotReady'), 'ContainersNotReady'],
  ['succeeds, and the gate is not open yet', condition('False', 'ReadinessGatesNotReady'), undefined],
  ['succeeds', condition('True'), undefined],
])('the probe of a user %s', (_, conditions, reason) => {
  expect(podFacts(probed(conditions, { exec: {} })).unready?.reason).toBe(reason);
});

test('without a probe the Pod’s own readiness says nothing of the guest', () => {
  expect(podFacts(probed(condition('False', 'ContainersNotReady')))).not.toHaveProperty('unready');
});

test('the image of its launcher', () => {
  expect(podFacts(probed([])).image).toBe('launcher:1');
});
