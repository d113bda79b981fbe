import { describe, expect, test } from '@jest/globals';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../../../api/kubevirt/types.ts';
import { replicaSetMatters, replicaSetsAfterInstance } from '../../../../../workers/controller/bridge/replica-sets.ts';

const set = (name: string, more: object = {}): VirtualMachineInstanceReplicaSet => ({
  metadata: { namespace: 'n', name, uid: `uid-${name}` },
  spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: {}, ...more },
});
const sets = () => [set('a'), set('b')];
const vmi = (owner: string | undefined, metadata: object = {}, status: object = {}): VirtualMachineInstance => ({
  metadata: {
    ...{ namespace: 'n', name: 'v', uid: 'i1', labels: { app: 'a' } },
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            { apiVersion: 'kubevirt.io/v1', kind: 'X', name: owner, uid: `uid-${owner}`, controller: true },
          ],
        }),
    ...metadata,
  },
  spec: { domain: { devices: {} } },
  status: { phase: 'Running', ...status },
});
const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

describe('a change of a VMI concerns', () => {
  test.each<[string, VirtualMachineInstance | undefined, VirtualMachineInstance | undefined, string[]]>([
    ['its set, when it comes', undefined, vmi('a'), ['a']],
    ['its set, when it is ready', vmi('a'), vmi('a', {}, ready), ['a']],
    ['its set, when it ends', vmi('a'), vmi('a', {}, { phase: 'Failed' }), ['a']],
    ['its set, when it is gone', vmi('a'), undefined, ['a']],
    ['whoever selects one that nobody owns', undefined, vmi(undefined), ['a']],
    [
      'both, when its labels change and nobody owns it',
      vmi(undefined),
      vmi(undefined, { labels: { app: 'b' } }),
      ['a', 'b'],
    ],
    ['nobody, when a VM owns it', undefined, vmi('vm'), []],
    ['nobody, when nothing of it matters', vmi('a'), vmi('a', { resourceVersion: '2' }, { nodeName: 'x' }), []],
  ])('%s', (_, before, after, told) => {
    const change = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    expect(replicaSetsAfterInstance(change, sets).map(({ metadata }) => metadata?.name)).toEqual(told);
  });
});

test.each<
  [string, VirtualMachineInstanceReplicaSet | undefined, VirtualMachineInstanceReplicaSet | undefined, boolean]
>([
  ['it is created', undefined, set('a'), true],
  ['it is scaled', set('a'), set('a', { replicas: 2 }), true],
  ['it is gone', set('a'), undefined, true],
  ['its status changes', set('a'), { ...set('a'), status: { replicas: 1 } }, false],
])('whether a change of a set matters: %s', (_, before, after, matters) => {
  const change = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  expect(replicaSetMatters(change)).toBe(matters);
});
