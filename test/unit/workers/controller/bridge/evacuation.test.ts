import { describe, expect, test } from '@jest/globals';
import type { Node } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';
import type { EvacuationCaches } from '../../../../../workers/controller/bridge/evacuation.ts';
import {
  evacuationsAfterInstance,
  evacuationsAfterMigration,
  evacuationsAfterNode,
  evacuationsInCache,
} from '../../../../../workers/controller/bridge/evacuation.ts';
import { vmi, vmim } from './objects.ts';

const node = (name: string, spec: Node['spec'] = {}): Node => ({ metadata: { name, uid: `uid-${name}` }, spec });
const DRAINED = { taints: [{ key: 'kubevirt.io/drain', effect: 'NoSchedule' }] };
const caches = (instances: VirtualMachineInstance[] = [], nodes = [node('a'), node('b')]): EvacuationCaches => ({
  ...{ instances: () => instances, nodes: () => nodes },
  rules: () => ({ evictionStrategy: 'LiveMigrate', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } }),
});
const names = (nodes: Node[]): string[] => nodes.map(({ metadata }) => metadata?.name ?? '');

const on = (nodeName: string, more: object = {}, phase = 'Running'): VirtualMachineInstance =>
  vmi(phase, {}, { nodeName, ...more });
const asked = on('a', { evacuationNodeName: 'a' });

describe('a change of an instance concerns the emptying of', () => {
  test.each<[string, VirtualMachineInstance | undefined, VirtualMachineInstance | undefined, string[]]>([
    ['its node, when it is asked to leave', on('a'), asked, ['a']],
    ['its node, when the bridge sees it for the first time', undefined, asked, ['a']],
    ['its node, when it need not leave any more', asked, on('a'), ['a']],
    ['its node, when it has left', asked, on('b'), ['a']],
    ['its node, when it is gone', asked, undefined, ['a']],
    ['its node, when it ends', asked, on('a', { evacuationNodeName: 'a' }, 'Failed'), ['a']],
    [
      'its node, when a Pod of an earlier migration is gone',
      on('a', { evacuationNodeName: 'a', activePods: { p: 'a', q: 'b' } }),
      asked,
      ['a'],
    ],
    [
      'none, when nothing of it matters',
      asked,
      { ...asked, metadata: { ...asked.metadata, resourceVersion: '9' } },
      [],
    ],
    ['none, when nobody asks', undefined, on('a'), []],
  ])('%s', (_, before, after, told) => {
    const change = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    expect(names(evacuationsAfterInstance(change, caches()))).toEqual(told);
  });

  test('its node, when that carries the taint', () => {
    const tainted = caches([], [node('a', DRAINED)]);
    expect(names(evacuationsAfterInstance({ after: on('a') }, tainted))).toEqual(['a']);
  });
});

const evacuating = { annotations: { 'kubevirt.io/evacuationMigration': 'a' } };

describe('a change of a migration concerns the emptying of', () => {
  test.each<
    [string, VirtualMachineInstanceMigration | undefined, VirtualMachineInstanceMigration | undefined, string[]]
  >([
    ['the node that it helps to empty, when it ends', vmim('Running', evacuating), vmim('Failed', evacuating), ['a']],
    ['that node, when it is gone', vmim('Pending', evacuating), undefined, ['a']],
    ['none, while it goes on', vmim('Pending', evacuating), vmim('Running', evacuating), []],
    ['none, once it is over', vmim('Failed', evacuating), vmim('Failed', evacuating), []],
    ['none, when it is a user’s and its instance may stay', vmim('Running'), vmim('Failed'), []],
  ])('%s', (_, before, after, told) => {
    const change = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    expect(names(evacuationsAfterMigration(change, caches()))).toEqual(told);
  });

  test('the node that its instance is to leave, when a user’s ends', () => {
    const change = { before: vmim('Running'), after: vmim('Failed') };
    expect(names(evacuationsAfterMigration(change, caches([asked])))).toEqual(['a']);
  });
});

test.each<[string, Node | undefined, Node | undefined, boolean]>([
  ['it is cordoned', node('a'), node('a', { unschedulable: true }), true],
  ['it is uncordoned', node('a', { unschedulable: true }), node('a'), true],
  ['it is tainted', node('a'), node('a', DRAINED), true],
  ['it is gone', node('a'), undefined, true],
  ['a heartbeat came', node('a'), { ...node('a'), metadata: { name: 'a', uid: 'uid-a', resourceVersion: '2' } }, false],
  ['it is seen for the first time', undefined, node('a'), true],
])('whether the emptying of a node is concerned when %s', (_, before, after, concerned) => {
  const change = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  expect(names(evacuationsAfterNode(change, caches([asked])))).toEqual(concerned ? ['a'] : []);
});

test('a node that nobody is to leave may be cordoned without anybody being told', () => {
  expect(
    evacuationsAfterNode({ before: node('b'), after: node('b', { unschedulable: true }) }, caches([asked])),
  ).toEqual([]);
  expect(names(evacuationsAfterNode({ before: node('b', DRAINED), after: node('b') }, caches()))).toEqual(['b']);
});

test('the sweep sees nodes that somebody is to leave', () => {
  const elsewhere = on('b', { evacuationNodeName: 'a' });
  expect(names(evacuationsInCache(caches([asked])))).toEqual(['a']);
  expect(names(evacuationsInCache(caches([elsewhere, on('a')])))).toEqual([]);
});
