import { expect, test } from '@jest/globals';
import type { KubePort } from '../../../../activities/kube/port.ts';
import { KubeError } from '../../../../activities/kube/port.ts';
import type { Node } from '../../../../api/kubernetes/types.ts';
import { destination, nodeSelector } from '../../../../cli/migration/destination.ts';

const READY = [{ type: 'Ready', status: 'True' }];

function named(name: string): Node {
  return { metadata: { name }, status: { conditions: READY } };
}

const labelled: Record<string, Node[]> = {
  'zone=east': [named('a'), named('b')],
  'zone=west': [named('a')],
  'zone=north': [{ ...named('b'), spec: { unschedulable: true } }],
};
const nodes: Record<string, Node> = {
  b: {
    metadata: { name: 'b', labels: { 'kubernetes.io/hostname': 'host-b', zone: 'east' } },
    status: { conditions: READY },
  },
  cordoned: { spec: { unschedulable: true }, status: { conditions: READY } },
  down: { status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'kubelet is silent' }] } },
};
const kube: Pick<KubePort, 'get' | 'list'> = {
  list: (_kind, { labelSelector = '' } = {}) => Promise.resolve((labelled[labelSelector] ?? []) as never),
  get: (_kind, { name }) =>
    name === 'secret' ? Promise.reject(new KubeError(403, 'Forbidden', 'no')) : Promise.resolve(nodes[name] as never),
};

test('several selectors add up, in one option or in several', () => {
  expect(nodeSelector('disk=ssd', nodeSelector('zone=east,example.com/gpu='))).toEqual({
    zone: 'east',
    'example.com/gpu': '',
    disk: 'ssd',
  });
});

test.each(['zone', '=east', 'zone=east=west', ''])('"%s" is no selector', (text) => {
  expect(() => nodeSelector(text)).toThrow(/key=value/);
});

test('a target node is a selector of its host name, besides the others', async () => {
  const wanted = { targetNode: 'b', nodeSelector: { zone: 'east' } };
  expect(await destination(kube, wanted, 'a')).toEqual({ zone: 'east', 'kubernetes.io/hostname': 'host-b' });
});

test('a person who may not read nodes can name one all the same', async () => {
  expect(await destination(kube, { targetNode: 'secret' }, 'a')).toEqual({ 'kubernetes.io/hostname': 'secret' });
});

test.each([
  ['a', /runs on node "a" already/],
  ['nowhere', /no node "nowhere"/],
  ['cordoned', /"cordoned" cannot take the VM: it is cordoned/],
  ['down', /not Ready \(kubelet is silent\)/],
])('node %s is refused as a target', async (targetNode, why) => {
  await expect(destination(kube, { targetNode }, 'a')).rejects.toThrow(why);
});

test('labels are looked for on the nodes before anything is created', async () => {
  expect(await destination(kube, { nodeSelector: { zone: 'east' } }, 'a')).toEqual({ zone: 'east' });
  expect(await destination(kube, {}, 'a')).toEqual({});
});

test.each([
  ['mars', /no node other than a has the labels zone=mars: nothing was created; .*--node-selector/],
  ['west', /no node other than a has the labels zone=west/],
  ['north', /no node with the labels zone=north can take the VM \(b: it is cordoned\)/],
])('labels zone=%s that no other node can offer are refused', async (zone, why) => {
  await expect(destination(kube, { nodeSelector: { zone } }, 'a')).rejects.toThrow(why);
});

test('a node that was named and lacks the other labels is refused', async () => {
  const wanted = { targetNode: 'b', nodeSelector: { zone: 'mars' } };
  await expect(destination(kube, wanted, 'a')).rejects.toThrow(/"b" cannot take the VM: it lacks the labels zone=mars/);
});

test('a person who may not read nodes is not refused for labels', async () => {
  const forbidden = { ...kube, list: () => Promise.reject(new KubeError(403, 'Forbidden', 'no')) };
  expect(await destination(forbidden, { nodeSelector: { zone: 'mars' } }, 'a')).toEqual({ zone: 'mars' });
});
