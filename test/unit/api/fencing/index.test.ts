import { expect, test } from '@jest/globals';
import { recordedAt, recordedFence, recordLease } from '../../../../activities/facts/fence-record.ts';
import { describeFence, fenceOn } from '../../../../api/fencing/index.ts';
import type { Fence } from '../../../../api/contract/nodes.ts';
import { FENCE_ANNOTATION } from '../../../../api/contract/nodes.ts';
import type { Node } from '../../../../api/kubernetes/types.ts';

const node = (annotation?: string, taints?: { key: string; effect: string }[]): Node => ({
  metadata: {
    name: 'a',
    uid: 'n1',
    ...(annotation === undefined ? {} : { annotations: { [FENCE_ANNOTATION]: annotation } }),
  },
  ...(taints === undefined ? {} : { spec: { taints } }),
  status: { nodeInfo: { bootID: 'b1' } as NonNullable<NonNullable<Node['status']>['nodeInfo']> },
});
const word = (nodeUid: string): string => JSON.stringify({ nodeUid, bootId: 'b0', at: '2026-01-01T00:00:00Z' });
const outOfService = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];

test.each<[string, Node, Fence | undefined]>([
  ['nothing', node(), undefined],
  ['other taints', node(undefined, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]), undefined],
  ['the out-of-service taint', node(undefined, outOfService), { by: 'outOfService', nodeUid: 'n1', bootId: 'b1' }],
  ['an operator’s word', node(word('n1')), { by: 'operator', nodeUid: 'n1', bootId: 'b0' }],
  ['a word about an earlier Node of the name', node(word('n0')), undefined],
  ['a word that cannot be read', node('yes'), undefined],
  ['JSON that is no word', node('{}'), undefined],
])('%s', (_, given, fence) => {
  expect(fenceOn(given)).toEqual(fence);
});

test('a record says what was recorded, and keeps what others wrote on it', () => {
  const fence: Fence = { by: 'nodeDeleted', nodeUid: 'n1', bootId: 'b1' };
  const first = recordLease({ name: 'a' }, { ...fence, by: 'operator' }, '2026-01-01T00:00:00Z');
  const before = {
    ...first,
    metadata: { ...first.metadata, resourceVersion: '7', annotations: { ...first.metadata?.annotations, x: 'y' } },
  };
  const lease = recordLease({ name: 'a' }, fence, '2026-01-02T00:00:00Z', before);
  expect(recordedFence(lease)).toEqual(fence);
  expect(recordedAt(lease)).toBe('2026-01-02T00:00:00Z');
  expect(lease.metadata).toMatchObject({
    ...{ namespace: 'kube-node-lease', name: 'virtflow-fence-a', resourceVersion: '7' },
    annotations: { x: 'y' },
  });
  expect(recordedFence({ metadata: { name: 'virtflow-fence-a' } })).toBeUndefined();
});

test('every fence is told in words', () => {
  for (const by of ['outOfService', 'operator', 'nodeDeleted'] as const) {
    expect(describeFence('a', { by })).toMatch(/^node a (is|was) /);
  }
});
