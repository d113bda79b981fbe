import { expect, test } from '@jest/globals';
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from '../../../../../api/kubevirt/types.ts';
import { fieldsForRestart } from '../../../../../activities/controller/virtual-machine/restart-required.ts';

const base: VirtualMachineInstanceSpec = {
  domain: {
    cpu: { cores: 1, sockets: 1 },
    memory: { guest: '128Mi' },
    devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
  },
  volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'root' } }],
};
const UUID = '5d307ca9-b3ef-428c-8861-06e72d69f223';
const vmi: VirtualMachineInstance = { spec: { ...base, domain: { ...base.domain, firmware: { uuid: UUID } } } };

type Change = (spec: VirtualMachineInstanceSpec) => void;

test.each<[string, Change, string[]]>([
  ['nothing', () => undefined, []],
  ['the order of keys', (spec) => (spec.domain = { ...{ devices: spec.domain.devices }, ...spec.domain }), []],
  ['an empty structure', (spec) => (spec.domain.features = {}), []],
  ['CPU cores', (spec) => (spec.domain.cpu = { cores: 2, sockets: 1 }), ['domain.cpu.cores']],
  ['CPU sockets', (spec) => (spec.domain.cpu = { cores: 1, sockets: 2 }), ['domain.cpu.sockets']],
  ['memory', (spec) => (spec.domain.memory = { guest: '256Mi' }), ['domain.memory.guest']],
  [
    'a disk and its volume',
    (spec) => ((spec.volumes ??= []), spec.volumes.push({ name: 'b', emptyDisk: { capacity: '1Gi' } })),
    ['volumes'],
  ],
  ['a disk', (spec) => spec.domain.devices.disks?.push({ name: 'b' }), ['domain.devices.disks']],
  ['the grace period', (spec) => (spec.terminationGracePeriodSeconds = 1), ['terminationGracePeriodSeconds']],
  ['the firmware UUID that the guest has', (spec) => (spec.domain.firmware = { uuid: UUID }), []],
  ['another firmware UUID', (spec) => (spec.domain.firmware = { uuid: 'other' }), ['domain.firmware']],
])('%s', (_, change, fields) => {
  const changed = structuredClone(base);
  change(changed);
  const [started, current] = [base, changed].map((spec) => ({ template: { spec } }));
  if (started === undefined || current === undefined) throw new Error('unreachable');
  const paths = fields.map((field) => `spec.template.spec.${field}`);
  expect(fieldsForRestart(started, current, vmi, true)).toEqual(paths);
});

test('where it may run is taken by a guest that can migrate, and by no other', () => {
  const changed = {
    ...base,
    nodeSelector: { zone: 'east' },
    tolerations: [{ key: 'a' }],
    affinity: { nodeAffinity: {} },
  };
  const [started, current] = [{ template: { spec: base } }, { template: { spec: changed } }];
  expect(fieldsForRestart(started, current, vmi, true)).toEqual([]);
  expect(fieldsForRestart(started, current, vmi, false)).toEqual([
    'spec.template.spec.nodeSelector',
    'spec.template.spec.tolerations',
  ]);
});
