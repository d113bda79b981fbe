import type { VirtualMachine, VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import type { MigrationReport } from '../../../../api/contract/migrations.ts';
import type { Migration } from '../../../../cli/migration/objects.ts';
import type { Told } from '../../../../cli/temporal/operations.ts';

export const NAME = { namespace: 'prod', name: 'web' };
export const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, 0) + seconds * 1000).toISOString();

export const vm: VirtualMachine = {
  metadata: { ...NAME, uid: 'vm-1' },
  spec: { runStrategy: 'Always', template: { spec: { domain: { devices: {} } } } },
  status: { printableStatus: 'Running' },
};

type Condition = NonNullable<NonNullable<VirtualMachineInstance['status']>['conditions']>[number];

/** A running VMI with these conditions and more status. */
export const running = (
  conditions: Condition[] = [],
  status: Partial<VirtualMachineInstance['status']> = {},
): VirtualMachineInstance => ({
  metadata: { ...NAME, uid: 'vmi-1', creationTimestamp: at(-600) },
  spec: { domain: { devices: {} } },
  status: { phase: 'Running', nodeName: 'node-a', activePods: { 'pod-1': 'node-a' }, conditions, ...status },
});

export const migration = (
  phase: string,
  {
    name = 'kubevirt-migrate-vm-abc',
    createdAt = at(0),
    ...more
  }: { name?: string; createdAt?: string; deleting?: boolean; status?: Migration['status'] } = {},
): Migration => ({
  metadata: {
    ...{ namespace: 'prod', name, uid: `uid-${name}`, creationTimestamp: createdAt },
    ...(more.deleting && { deletionTimestamp: at(5) }),
  },
  spec: { vmiName: 'web' },
  status: { phase, ...more.status },
});

export const report = (phase: MigrationReport['phase'], more: Partial<MigrationReport> = {}): MigrationReport => ({
  migration: { namespace: 'prod', name: 'kubevirt-migrate-vm-abc', uid: 'uid-kubevirt-migrate-vm-abc' },
  phase,
  phaseTimes: [
    { phase: 'Pending', at: at(0) },
    { phase: 'Running', at: at(2) },
    ...(phase === 'Succeeded' || phase === 'Failed' ? [{ phase, at: at(5) }] : []),
  ],
  source: { name: 'pod-a', uid: 'pod-1', node: 'node-a' },
  target: { name: 'pod-b', uid: 'pod-2', node: 'node-b' },
  ...more,
});

export const NUMBERS = {
  ...{ mode: 'PreCopy' as const, elapsedMs: 2100, totalBytes: 2 ** 30, processedBytes: 300 * 2 ** 20 },
  ...{ remainingBytes: 0, iterations: 3, downtimeMs: 84.6 },
};

export const told = (migrationReport: MigrationReport, more: Partial<Told> = {}): Told => ({
  kind: 'migrate',
  steps: [],
  migration: migrationReport,
  ...more,
});
