import { expect, test } from '@jest/globals';
import { tscFrequency, withTopologyHints } from '../../../../../activities/controller/instance/topology-hints.ts';
import { withDomain } from '../../../../support/instances.ts';

const node = (...frequencies: string[]) => ({
  metadata: {
    labels: Object.fromEntries(
      frequencies.map((frequency) => [`scheduling.node.kubevirt.io/tsc-frequency-${frequency}`, 'true']),
    ),
  },
});

test.each<[string, ReturnType<typeof node>[], number | undefined]>([
  ['no node', [], undefined],
  ['nodes that offer none', [node(), { metadata: { labels: {} } }], undefined],
  ['a label that is no frequency', [node('fast'), node('-1')], undefined],
  ['one that most nodes offer', [node('2400'), node('2600'), node('2600')], 2600],
  ['of equally many the lowest', [node('2600'), node('2400'), node('2400', '2600')], 2400],
])('the frequency of a guest: %s', (_, nodes, expected) => {
  expect(tscFrequency(nodes)).toBe(expected);
});

const invariant = withDomain({ cpu: { features: [{ name: 'invtsc', policy: 'require' }] } });
const reenlightened = withDomain({ features: { hyperv: { reenlightenment: {} } } });

const hints = async (vmi: typeof invariant, nodes = [node('2400')]) => {
  const written: unknown[] = [];
  const given = await withTopologyHints(
    {
      list: () => Promise.resolve(nodes as never[]),
      mergePatch: (_, __, patch) => Promise.resolve(written.push(patch) as never),
    },
    vmi,
  );
  return { hints: given.status?.topologyHints, writes: written.length };
};

test.each([
  ['counts on an invariant counter', invariant],
  ["counts on Hyper-V's reenlightenment", reenlightened],
])('a guest that %s gets one, once', async (_, vmi) => {
  expect(await hints(vmi)).toEqual({ hints: { tscFrequency: 2400 }, writes: 1 });
  const settled = { ...vmi, status: { topologyHints: { tscFrequency: 2600 } } };
  expect(await hints(settled)).toEqual({ hints: { tscFrequency: 2600 }, writes: 0 });
  expect(await hints(vmi, [])).toEqual({ hints: undefined, writes: 0 });
});

test.each([
  ['any guest', withDomain({})],
  ['one that may do without', withDomain({ cpu: { features: [{ name: 'invtsc', policy: 'optional' }] } })],
  ['one that switches it off', withDomain({ features: { hyperv: { reenlightenment: { enabled: false } } } })],
])('nobody looks for %s', async (_, vmi) => {
  expect(await hints(vmi)).toEqual({ hints: undefined, writes: 0 });
});
