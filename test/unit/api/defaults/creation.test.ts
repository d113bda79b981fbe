import { expect, test } from '@jest/globals';
import { newInstance, newMigration, newVirtualMachine } from '../../../../api/defaults/index.ts';
import { configured, withDomain } from '../../../support/instances.ts';

const uuids = (): (() => string) => {
  let count = 0;
  return () => `uuid-${++count}`;
};
const now = '2026-01-01T00:00:00Z';

test('a VMI is stored complete, pending, with its finalizer and an identity', () => {
  const vmi = withDomain({ memory: { guest: '1Gi' } }, {}, { uid: undefined, finalizers: ['mine'] });
  const stored = newInstance(vmi, configured(), { uuid: uuids(), now });
  expect(stored.metadata?.finalizers).toEqual(['mine', 'kubevirt.io/foregroundDeleteVirtualMachine']);
  expect(stored.spec.domain).toMatchObject({ firmware: { uuid: 'uuid-1' }, machine: { type: 'q35' } });
  expect(stored.status).toMatchObject({
    phase: 'Pending',
    phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: now }],
  });
  const { finalizers } = newInstance(stored, configured(), { uuid: uuids(), now }).metadata ?? {};
  expect(finalizers).toEqual(stored.metadata?.finalizers);
});

test('a VMI keeps the identity that it comes with', () => {
  const stored = newInstance(withDomain({ firmware: { uuid: 'mine' } }), configured(), { uuid: uuids(), now });
  expect(stored.spec.domain.firmware?.uuid).toBe('mine');
});

test('a VM is stored with what a start must not choose anew, and nothing else', () => {
  const vm = { metadata: { name: 'web' }, spec: { runStrategy: 'Always', template: {} } };
  const before = structuredClone(vm);
  const stored = newVirtualMachine(vm, configured(), { uuid: uuids(), now });
  expect(stored.spec.template).toEqual({
    metadata: { annotations: { 'kubevirt.io/pci-topology-version': 'v3' } },
    spec: {
      architecture: 'amd64',
      domain: { devices: {}, firmware: { uuid: 'uuid-1', serial: 'uuid-2' }, machine: { type: 'q35' } },
    },
  });
  expect(vm).toEqual(before);
});

test.each([
  [{ architecture: 's390x' }, 's390-ccw-virtio', undefined],
  [{ architecture: 'arm64' }, 'virt', { 'kubevirt.io/pci-topology-version': 'v3' }],
  [{ domain: { devices: {}, machine: { type: 'pc-i440fx-2.10' } } }, 'pc-i440fx-2.10', undefined],
])('a VM of %j has machine %s', (spec, type, annotations) => {
  const template = { spec: { domain: { devices: {} }, ...spec } };
  const stored = newVirtualMachine({ metadata: {}, spec: { template } }, configured(), { uuid: uuids(), now });
  expect(stored.spec.template.spec?.domain.machine?.type).toBe(type);
  expect(stored.spec.template.metadata?.annotations).toEqual(annotations);
});

test('a VMIM is stored with the label that finds it and with its finalizer', () => {
  const stored = newMigration({ metadata: { name: 'move', labels: { a: 'b' } }, spec: { vmiName: 'web' } });
  expect(stored.metadata).toEqual({
    name: 'move',
    labels: { a: 'b', 'kubevirt.io/vmi-name': 'web' },
    finalizers: ['kubevirt.io/migrationJobFinalize'],
  });
});

test('a name too long for a label is left to the workflow', () => {
  const vmiName = 'x'.repeat(64);
  expect(newMigration({ metadata: { name: 'move' }, spec: { vmiName } }).metadata?.labels).toEqual({});
});
