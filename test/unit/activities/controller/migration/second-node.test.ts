import { expect, test } from '@jest/globals';
import type { Node } from '../../../../../api/kubernetes/types.ts';
import { noSecondNode } from '../../../../../activities/controller/migration/second-node.ts';
import { configured, instance } from '../../../../support/instances.ts';

const node = (name: string, labels: Record<string, string> = {}): Node => ({ metadata: { name, labels } });
const on = (nodeName: string, nodeSelector?: Record<string, string>) => ({
  ...instance(nodeSelector === undefined ? {} : { nodeSelector }),
  status: { nodeName },
});
const none = configured();
const everywhere = configured({ developerConfiguration: { nodeSelectors: { pool: 'vms' } } });

test.each<[string, ...Parameters<typeof noSecondNode>, RegExp | undefined]>([
  ['another node', on('a'), undefined, none, [node('a'), node('b')], undefined],
  ['no other node', on('a'), undefined, none, [node('a')], /runs on node a, and no other node is labelled kubevirt/],
  ['no node at all', on('a'), undefined, none, [], /no other node/],
  ['its own node serves no more', on('a'), undefined, none, [node('b')], undefined],
  ['one with the added labels', on('a'), { zone: '2' }, none, [node('a'), node('b', { zone: '2' })], undefined],
  [
    'only its own has the added labels',
    ...([on('a'), { zone: '2' }, none, [node('a', { zone: '2' }), node('b')]] as const),
    /no node other than a has the labels zone=2\..*spec\.addedNodeSelector/,
  ],
  [
    'only its own has what the VM selects',
    ...([on('a', { disk: 'ssd' }), undefined, none, [node('a', { disk: 'ssd' }), node('b')]] as const),
    /disk=ssd\..*the VM's nodeSelector/,
  ],
  ['none has what the cluster selects', on('a'), undefined, everywhere, [node('a'), node('b')], /pool=vms/],
  [
    'what the VM selects wins over what is added',
    ...([on('a', { zone: '1' }), { zone: '2' }, none, [node('a'), node('b', { zone: '1' })]] as const),
    undefined,
  ],
])('%s', (_, vmi, added, config, nodes, why) => {
  const answer = noSecondNode(vmi, added, config, nodes);
  if (why === undefined) expect(answer).toBeUndefined();
  else expect(answer).toMatch(why);
});

test('a node that is cordoned may be the target yet', () => {
  const cordoned = { ...node('b'), spec: { unschedulable: true } };
  expect(noSecondNode(on('a'), undefined, none, [node('a'), cordoned])).toBeUndefined();
});
