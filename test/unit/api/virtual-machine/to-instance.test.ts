import { expect, test } from '@jest/globals';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';
import { toInstance } from '../../../../api/virtual-machine/index.ts';

const vm = (template: object, status: object = {}): VirtualMachine => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'vm-uid', labels: { of: 'vm' }, annotations: { of: 'vm' } },
  spec: { runStrategy: 'Always', template },
  status,
});
const bare = { spec: { domain: { devices: {} } } };

test('the VMI has the VM’s name, the template’s labels and annotations, owner and finalizers', () => {
  const template = { metadata: { name: 'x', labels: { a: '1' }, annotations: { b: '2' } }, ...bare };
  expect(toInstance(vm(template)).metadata).toEqual({
    name: 'web',
    namespace: 'shop',
    labels: { a: '1' },
    annotations: { b: '2' },
    finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine', 'kubevirt.io/virtualMachineControllerFinalize'],
    ownerReferences: [
      {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        name: 'web',
        uid: 'vm-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
});

test('the firmware UUID follows from the name, as in KubeVirt, so that a guest keeps it over restarts', () => {
  const uuid = toInstance(vm(bare)).spec.domain.firmware?.uuid;
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(toInstance(vm(bare)).spec.domain.firmware?.uuid).toBe(uuid);
  const other = vm(bare);
  other.metadata = { ...other.metadata, name: 'db' };
  expect(toInstance(other).spec.domain.firmware?.uuid).not.toBe(uuid);
});

test('a UUID in the template stands', () => {
  const firmware = { uuid: '9b5a1d1e-2222-4c1c-8a2b-0e5d5d5d0001', serial: 's' };
  expect(toInstance(vm({ spec: { domain: { devices: {}, firmware } } })).spec.domain.firmware).toEqual(firmware);
});

test('a volume without a disk gets one; the VM itself is left alone', () => {
  const given = vm({
    spec: { domain: { devices: { disks: [{ name: 'a' }] } }, volumes: [{ name: 'a' }, { name: 'b' }] },
  });
  const before = structuredClone(given);
  expect(toInstance(given).spec.domain.devices.disks).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(given).toEqual(before);
});

test.each([
  ['a start request that asks for it', [{ action: 'Start', data: { paused: 'true' } }], 'Paused'],
  ['an ordinary start request', [{ action: 'Start' }], undefined],
  ['a later request', [{ action: 'Stop' }, { action: 'Start', data: { paused: 'true' } }], undefined],
])('starts paused: %s', (_, stateChangeRequests, expected) => {
  expect(toInstance(vm(bare, { stateChangeRequests })).spec.startStrategy).toBe(expected);
});

test.each([
  ['Completed', []],
  ['InProgress', ['dump']],
])('the volume of a memory dump in phase %s', (phase, expected) => {
  const template = {
    spec: { domain: { devices: {} }, volumes: [{ name: 'dump', memoryDump: { claimName: 'dump' } }] },
  };
  const { volumes } = toInstance(vm(template, { memoryDumpRequest: { claimName: 'dump', phase } })).spec;
  expect(volumes?.map(({ name }) => name)).toEqual(expected);
});

test('an empty template becomes a VMI that validation can judge', () => {
  expect(toInstance(vm({})).spec.domain.devices).toEqual({});
});
