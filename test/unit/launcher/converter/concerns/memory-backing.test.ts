import { expect, test } from '@jest/globals';
import { memoryBacking } from '../../../../../launcher/converter/concerns/memory-backing.ts';
import { host, vmi } from '../examples.ts';

const domain = { memory: { guest: '64Mi', hugepages: { pageSize: '2Mi' } } };

test('huge pages come from memfd', () => {
  expect(memoryBacking(vmi({ domain }), host()).memoryBacking).toEqual({ hugepages: '', source: { '@type': 'memfd' } });
});

test('without huge pages nothing is said of the backing', () => {
  expect(memoryBacking(vmi(), host())).toEqual({});
});

test.each([
  ['the annotation says so', vmi({ domain, metadata: { annotations: { 'kubevirt.io/memfd': 'false' } } })],
  ['the architecture has no NUMA', vmi({ domain, spec: { architecture: 's390x' } })],
])('no memfd where %s', (_, instance) => {
  expect(memoryBacking(instance, host()).memoryBacking).toEqual({ hugepages: '' });
});
