import { expect, test } from '@jest/globals';
import { fencePatch, fenceQuestion, undoPatch, undoQuestion } from '../../../cli/fence.ts';
import { FENCE_ANNOTATION } from '../../../api/contract/nodes.ts';
import type { Node } from '../../../api/kubernetes/types.ts';

const now = new Date('2026-01-01T01:00:00Z');
type Info = NonNullable<NonNullable<Node['status']>['nodeInfo']>;

const node = (annotations?: Record<string, string>, ready = 'Unknown', bootID = 'b1'): Node => ({
  metadata: { name: 'a', uid: 'n1', ...(annotations === undefined ? {} : { annotations }) },
  status: { nodeInfo: { bootID } as Info, conditions: [{ type: 'Ready', status: ready }] },
});
const word = (nodeUid = 'n1'): Record<string, string> => ({
  [FENCE_ANNOTATION]: JSON.stringify({ nodeUid, bootId: 'b1', at: '2026-01-01T00:00:00Z' }),
});

test('a fence names Node and boot, and is written only over what was looked at', () => {
  expect(fencePatch(node({}), now)).toEqual([
    { op: 'test', path: '/metadata/uid', value: 'n1' },
    { op: 'test', path: '/status/nodeInfo/bootID', value: 'b1' },
    {
      ...{ op: 'add', path: '/metadata/annotations/virtflow.io~1fenced' },
      value: '{"nodeUid":"n1","bootId":"b1","at":"2026-01-01T01:00:00.000Z"}',
    },
  ]);
});

test('a Node without annotations gets some', () => {
  expect(fencePatch(node(), now)).toContainEqual({ op: 'add', path: '/metadata/annotations', value: {} });
});

test('what an operator has said is not said twice; a word about an earlier Node is none', () => {
  expect(fencePatch(node(word()), now)).toBeUndefined();
  expect(fencePatch(node(word('n0')), now)).toBeDefined();
});

test('undo takes away what was read, and nothing else', () => {
  expect(undoPatch(node({}))).toBeUndefined();
  const annotations = word();
  const path = '/metadata/annotations/virtflow.io~1fenced';
  expect(undoPatch(node(annotations))).toEqual([
    { op: 'test', path, value: annotations[FENCE_ANNOTATION] },
    { op: 'remove', path },
  ]);
});

test.each<[string, Node, string[]]>([
  ['a silent node', node({ 'kubevirt.io/heartbeat': '2026-01-01T00:50:00Z' }), []],
  ['a kubelet that is Ready', node({}, 'True'), ['kubelet']],
  ['a worker that was heard of', node({ 'kubevirt.io/heartbeat': '2026-01-01T00:59:30Z' }), ['30 s ago']],
])('the question warns of signs of life: %s', (_, given, signs) => {
  const warnings = fenceQuestion(given, ['n/v'], now)
    .split('\n')
    .filter((line) => line.startsWith('WARNING'));
  expect(warnings).toHaveLength(signs.length);
  for (const [index, sign] of signs.entries()) expect(warnings[index]).toContain(sign);
});

test('the question names the VMs, but not hundreds of them', () => {
  const many = Array.from({ length: 8 }, (_, n) => `n/v${n}`);
  expect(fenceQuestion(node(), many, now)).toContain('8 VMs (n/v0, n/v1, n/v2, n/v3, n/v4, …)');
  expect(fenceQuestion(node(), [], now)).toContain('runs no VMs');
});

test('who takes it back is told whether the machine has restarted', () => {
  expect(undoQuestion(node(word()))).toContain('has not restarted');
  expect(undoQuestion(node(word(), 'True', 'b2'))).toContain('has restarted');
});
