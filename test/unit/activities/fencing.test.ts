import { expect, test } from '@jest/globals';
import { recordLease } from '../../../activities/facts/fence-record.ts';
import { liveFence, ownFence } from '../../../activities/fencing.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Fence } from '../../../api/contract/nodes.ts';
import { FENCE_ANNOTATION } from '../../../api/contract/nodes.ts';
import type { Node } from '../../../api/kubernetes/types.ts';

const plain: Node = { metadata: { name: 'a', uid: 'n1' } };
const word = JSON.stringify({ nodeUid: 'n1', bootId: 'b1', at: '2026-01-01T00:00:00Z' });
const fenced: Node = { metadata: { name: 'a', uid: 'n1', annotations: { [FENCE_ANNOTATION]: word } } };
const recorded: Fence = { by: 'nodeDeleted', nodeUid: 'n0', bootId: 'b0' };

const kube = (node: Node | undefined, record: Fence | undefined): Pick<KubePort, 'get'> => {
  const lease = record === undefined ? undefined : recordLease({ name: 'a' }, record, '2026-01-01T00:00:00Z');
  const get = (kind: string) => Promise.resolve(kind === 'Node' ? node : lease);
  return { get: get as unknown as KubePort['get'] };
};

test.each<[string, Node | undefined, Fence | undefined, Fence['by'] | 'none', string]>([
  ['a Node without a fence', plain, undefined, 'none', 'none'],
  ['a Node that carries one', fenced, undefined, 'operator', 'standing'],
  ['no Node, nothing on record', undefined, undefined, 'none', 'none'],
  ['no Node, a fence on record', undefined, recorded, 'nodeDeleted', 'standing'],
  ['a Node that registered again after it was fenced', plain, recorded, 'none', 'earlier'],
  ['a Node that carries one, another on record', fenced, recorded, 'operator', 'standing'],
])('%s', async (_, node, record, evidence, own) => {
  expect((await liveFence(kube(node, record), 'a'))?.by ?? 'none').toBe(evidence);
  expect((await ownFence(kube(node, record), 'a')).kind).toBe(own);
});
