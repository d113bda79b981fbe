import { describe, expect, test } from '@jest/globals';
import { replica } from '../../../../../activities/controller/replica-set/change-replicas.ts';
import { replicaSetPatch } from '../../../../../activities/controller/replica-set/publish-replica-set.ts';
import { isSelected, replicaOf, selectorText } from '../../../../../activities/facts/replica-set.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../../../api/kubevirt/types.ts';
import { configured } from '../../../../support/instances.ts';

const set: VirtualMachineInstanceReplicaSet = {
  metadata: { namespace: 'shop', name: 'web', uid: 'rs1' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { note: 'x' } },
      spec: { domain: { memory: { guest: '64Mi' }, devices: {} } },
    },
  },
};
const vmi = (metadata: object = {}, status: object = {}): VirtualMachineInstance => ({
  metadata: { namespace: 'shop', name: 'web1', uid: 'i1', labels: { app: 'web' }, ...metadata },
  spec: { domain: { devices: {} } },
  status: { phase: 'Running', ...status },
});
const NOW = '2026-01-01T00:00:00.500Z';

describe('how a VMI counts', () => {
  test.each<[string, VirtualMachineInstance, string, boolean]>([
    ['it runs', vmi(), 'active', false],
    ['it is ready', vmi({}, { conditions: [{ type: 'Ready', status: 'True' }] }), 'active', true],
    ['it has just been created', vmi({}, { phase: '' }), 'active', false],
    ['it has succeeded', vmi({}, { phase: 'Succeeded' }), 'ended', false],
    ['it has failed', vmi({}, { phase: 'Failed' }), 'ended', false],
    ['nothing is known of it', vmi({}, { phase: 'Unknown' }), 'ended', false],
    ['it is being deleted', vmi({ deletionTimestamp: NOW }), 'leaving', false],
  ])('%s', (_, one, standing, ready) => {
    expect(replicaOf(one)).toMatchObject({ standing, ready });
  });
});

test('when it ran and when it ended are told', () => {
  const times = ['Scheduled', 'Running', 'Failed'].map((phase, second) => ({
    ...{ phase, phaseTransitionTimestamp: `2026-01-01T00:00:0${second}Z` },
  }));
  expect(replicaOf(vmi({}, { phase: 'Failed', phaseTransitionTimestamps: times }))).toMatchObject({
    ...{ runningSince: '2026-01-01T00:00:01Z', endedAt: '2026-01-01T00:00:02Z' },
  });
  expect(replicaOf(vmi())).not.toHaveProperty('endedAt');
});

describe('which VMIs it selects', () => {
  test.each<[string, VirtualMachineInstance, VirtualMachineInstanceReplicaSet, boolean]>([
    ['those with its labels', vmi(), set, true],
    ['not those with others', vmi({ labels: { app: 'db' } }), set, false],
    ['not those of another namespace', vmi({ namespace: 'other' }), set, false],
    ['nothing, by an empty selector', vmi(), { ...set, spec: { ...set.spec, selector: {} } }, false],
  ])('%s', (_, one, by, selected) => {
    expect(isSelected(one, by)).toBe(selected);
  });
});

test.each([
  [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
  [
    {
      matchExpressions: [
        { key: 'd', operator: 'DoesNotExist' },
        { key: 'c', operator: 'Exists' },
        { key: 'b', operator: 'NotIn', values: ['y', 'x'] },
        { key: 'a', operator: 'In', values: ['1'] },
      ],
    },
    'a in (1),b notin (x,y),c,!d',
  ],
])('the selector for the scale subresource: %j', (selector, text) => {
  expect(selectorText(selector)).toBe(text);
});

describe('a VMI of the set', () => {
  const made = (number: number) => replica(set, number, configured(), { uuid: () => 'u', now: NOW });

  test('is what the template says, complete, and owned by the set', () => {
    expect(made(1)).toMatchObject({
      metadata: {
        ...{ namespace: 'shop', name: expect.stringMatching(/^web[0-9a-f]{5}$/) as unknown, labels: { app: 'web' } },
        annotations: { note: 'x' },
        ownerReferences: [
          { kind: 'VirtualMachineInstanceReplicaSet', uid: 'rs1', controller: true, blockOwnerDeletion: true },
        ],
      },
      spec: { domain: { memory: { guest: '64Mi' } } },
      status: { phase: 'Pending' },
    });
    expect(set.spec.template.metadata).toEqual({ labels: { app: 'web' }, annotations: { note: 'x' } });
  });

  test('has a name that its number gives, no longer than a name may be', () => {
    expect(made(1).metadata?.name).toBe(made(1).metadata?.name);
    expect(made(2).metadata?.name).not.toBe(made(1).metadata?.name);
    const long = { ...set, metadata: { ...set.metadata, name: 'x'.repeat(80) } };
    expect(replica(long, 1, configured(), { uuid: () => 'u', now: NOW }).metadata?.name).toHaveLength(63);
  });
});

describe('its status', () => {
  const report = { replicas: 2, readyReplicas: 1, paused: false };

  test('says how many there are, and how they are selected', () => {
    expect(replicaSetPatch(set, report, NOW)).toEqual({
      status: { replicas: 2, readyReplicas: 1, labelSelector: 'app=web', conditions: [] },
    });
  });

  test('is not written when it says so already', () => {
    const said = { ...set, status: { replicas: 2, readyReplicas: 1, labelSelector: 'app=web', conditions: [] } };
    expect(replicaSetPatch(said, report, NOW)).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['it is paused', { paused: true }, { type: 'ReplicaPaused', status: 'True', reason: 'Paused' }],
    [
      'a VMI could not be created',
      { failure: { type: 'Forbidden', message: 'no', while: 'creating' } },
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no' },
    ],
    [
      'a VMI could not be deleted',
      { failure: { type: 'Unknown', message: 'no', while: 'deleting' } },
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedDelete', message: 'no' },
    ],
    [
      'its VMIs end at once',
      { backOff: { failures: 3, retryAt: NOW } },
      { type: 'ReplicaFailure', status: 'True', reason: 'CrashLoopBackOff' },
    ],
  ])('says that %s', (_, more, condition) => {
    expect(replicaSetPatch(set, { ...report, ...more }, NOW)).toMatchObject({ status: { conditions: [condition] } });
  });
});
