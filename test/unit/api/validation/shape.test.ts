import { expect, test } from '@jest/globals';
import { readNewInstance, readNewMigration, readNewVirtualMachine } from '../../../../api/validation/index.ts';
import { short } from './told.ts';

test.each<[string, (object: unknown) => { causes: Parameters<typeof short>[0] }, unknown, string[]]>([
  ['a VMI', readNewInstance, { spec: { domain: { devices: {} } }, metadata: {} }, []],
  ['a VMI without spec', readNewInstance, { metadata: {} }, ['Required spec']],
  ['a VMI without domain', readNewInstance, { metadata: {}, spec: {} }, ['Required spec.domain']],
  [
    'a VMI without devices',
    readNewInstance,
    { metadata: {}, spec: { domain: { devices: null } } },
    ['Required spec.domain.devices'],
  ],
  ['a VM without template', readNewVirtualMachine, { metadata: {}, spec: {} }, ['Required spec.template']],
  ['a VM with an empty template', readNewVirtualMachine, { metadata: {}, spec: { template: {} } }, []],
  [
    'a VM without devices',
    readNewVirtualMachine,
    { metadata: {}, spec: { template: { spec: { domain: {} } } } },
    ['Required spec.template.spec.domain.devices'],
  ],
  ['a VMIM without spec', readNewMigration, { metadata: {} }, ['Required spec']],
  ['a number for a name', readNewMigration, { metadata: {}, spec: { vmiName: 7 } }, ['Invalid spec.vmiName']],
  [
    'several faults',
    readNewInstance,
    { metadata: {}, spec: { domain: { devices: { disks: {} }, cpu: { cores: 'x' }, memory: { guest: 'much' } } } },
    ['Invalid spec.domain.cpu.cores', 'Invalid spec.domain.memory.guest', 'Invalid spec.domain.devices.disks'],
  ],
  [
    'a volume of no name',
    readNewInstance,
    { metadata: {}, spec: { domain: { devices: {} }, volumes: [{}] } },
    ['Required spec.volumes[0].name'],
  ],
])('%s', (_, read, object, expected) => {
  expect(short(read(object).causes)).toEqual(expected);
});
