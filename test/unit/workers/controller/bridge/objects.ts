import type { Node, Pod } from '../../../../../api/kubernetes/types.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../../../../api/kubevirt/types.ts';

const created = '2026-01-01T00:00:00Z';

export const vm = (more: Partial<VirtualMachine['metadata']> = {}): VirtualMachine => ({
  metadata: {
    namespace: 'n',
    name: 'v',
    uid: 'vm1',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: created,
    ...more,
  },
  spec: { runStrategy: 'Always', template: { spec: { domain: { devices: {} } } } },
});

export const vmi = (
  phase: string,
  more: Partial<VirtualMachineInstance['metadata']> = {},
  status: Partial<VirtualMachineInstance['status']> = {},
): VirtualMachineInstance => ({
  metadata: {
    namespace: 'n',
    name: 'v',
    uid: 'i1',
    resourceVersion: '1',
    creationTimestamp: created,
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'v', uid: 'vm1', controller: true },
    ],
    ...more,
  },
  spec: {
    domain: { devices: {} },
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'claim' } }],
  },
  status: { phase, ...status },
});

export const pod = (phase: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: {
    namespace: 'n',
    name: 'virt-launcher-v',
    uid: 'p1',
    resourceVersion: '1',
    labels: { 'kubevirt.io/created-by': 'i1' },
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'v', uid: 'i1', controller: true },
    ],
    ...more,
  },
  status: { phase },
});

export const vmim = (
  phase: string,
  more: Partial<VirtualMachineInstanceMigration['metadata']> = {},
): VirtualMachineInstanceMigration => ({
  metadata: {
    ...{ namespace: 'n', name: 'm', uid: 'm1', resourceVersion: '1', creationTimestamp: created },
    finalizers: ['kubevirt.io/migrationJobFinalize'],
    ...more,
  },
  spec: { vmiName: 'v' },
  status: { phase },
});

export const node = (heartbeat?: string): Node => ({
  metadata: {
    ...{ name: 'a', uid: 'n1', creationTimestamp: created, labels: { 'kubevirt.io/schedulable': 'true' } },
    ...(heartbeat === undefined ? {} : { annotations: { 'kubevirt.io/heartbeat': heartbeat } }),
  },
});
