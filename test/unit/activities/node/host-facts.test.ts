import { expect, test } from '@jest/globals';
import { hostFacts, parseCpuList } from '../../../../activities/node/host-facts.ts';
import { effectiveConfiguration } from '../../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';

test.each([
  ['0-2,5', [0, 1, 2, 5]],
  ['7', [7]],
  ['0-1\n', [0, 1]],
  ['', []],
])('CPU list "%s"', (list, cpus) => {
  expect(parseCpuList(list)).toEqual(cpus);
});

const vmi = {
  spec: {
    domain: {
      devices: {
        interfaces: [
          { name: 'a', masquerade: {} },
          { name: 'b', sriov: {} },
        ],
      },
    },
  },
} as VirtualMachineInstance;

test('facts of configuration, claims and launcher come together', () => {
  const config = effectiveConfiguration(undefined);
  const claims = { data: { spec: { volumeMode: 'Block' } }, other: { spec: {} } };
  const facts = hostFacts(vmi, config, claims, { kvm: true, cpus: [3], mtu: 1400, backingFormats: { root: 'qcow2' } });
  expect(facts).toMatchObject({
    useEmulation: false,
    kvmAvailable: true,
    memBalloonStatsPeriod: 10,
    cpuSet: [3],
    isBlockVolume: { data: true, other: false },
    domainAttachment: { a: 'tap', b: 'none' },
    backingFormats: { root: 'qcow2' },
    mtu: 1400,
  });
});

test('without a network there is no MTU', () => {
  const facts = hostFacts(vmi, effectiveConfiguration(undefined), {}, { kvm: false, cpus: [], backingFormats: {} });
  expect(facts).not.toHaveProperty('mtu');
});
