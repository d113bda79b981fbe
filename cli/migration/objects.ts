import { isFailureType, type FailureInfo } from '../../api/contract/failures.ts';
import { RETRY_OF_ANNOTATION } from '../../api/contract/migrations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { KUBEVIRT_API_VERSION, type VirtualMachineInstanceMigration } from '../../api/kubevirt/types.ts';
import type { KubePort } from '../../activities/kube/port.ts';

export type Migration = VirtualMachineInstanceMigration;

interface VmName {
  namespace: string;
  name: string;
}

/** virtctl and others select the migrations of a VMI by it (KubeVirt's API types). */
const VMI_NAME_LABEL = 'kubevirt.io/vmi-name';
/** Longer names than a label's value may be are shortened by the controller. */
const LONGEST_LABEL = 63;
/** On a migration that repeats a failed one: that one's name. */

export const phaseOf = (migration: Migration): string => migration.status?.phase || 'Pending';

/** It has ended, well or badly. */
export const isOver = (migration: Migration): boolean => ['Succeeded', 'Failed'].includes(phaseOf(migration));

/** What the object says of a migration's trouble: `Waiting` while it goes on, `Failure` once it has failed, or that nobody knows the outcome. */
export function toldBy(
  migration: Migration,
  condition: 'Waiting' | 'Failure' | 'MigrationOutcomeUnknown',
): FailureInfo | undefined {
  const found = migration.status?.conditions?.find(({ type, status }) => type === condition && status === 'True');
  const { reason = '', message = '' } = found ?? {};
  return found && { type: isFailureType(reason) ? reason : 'Unknown', message };
}

export const refOf = ({ metadata }: Migration): ObjectRef => ({
  ...{ namespace: metadata?.namespace ?? '', name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
});

/** All migrations of the VMI of this name, oldest first. By spec, not by label: not everybody sets the label. */
export async function migrationsOf(kube: Pick<KubePort, 'list'>, { namespace, name }: VmName): Promise<Migration[]> {
  const all = await kube.list('VirtualMachineInstanceMigration', { namespace });
  return all.filter(({ spec }) => spec.vmiName === name).sort((a, b) => bornAt(a).localeCompare(bornAt(b)));
}

const bornAt = ({ metadata }: Migration): string => `${metadata?.creationTimestamp ?? ''} ${metadata?.name ?? ''}`;

/** Those of this very instance: an instance of the same name may have come before. */
export const sinceCreationOf = (
  migrations: readonly Migration[],
  instance: { metadata?: { creationTimestamp?: string } },
): Migration[] =>
  migrations.filter(
    ({ metadata }) => (metadata?.creationTimestamp ?? '') >= (instance.metadata?.creationTimestamp ?? ''),
  );

/** The object that asks for a migration, named as virtctl names it. */
export const newMigration = (
  { namespace, name }: VmName,
  { nodeSelector = {}, retryOf }: { nodeSelector?: Record<string, string>; retryOf?: string } = {},
): Migration => ({
  apiVersion: KUBEVIRT_API_VERSION,
  kind: 'VirtualMachineInstanceMigration',
  metadata: {
    namespace,
    generateName: 'kubevirt-migrate-vm-',
    ...(name.length <= LONGEST_LABEL && { labels: { [VMI_NAME_LABEL]: name } }),
    ...(retryOf !== undefined && { annotations: { [RETRY_OF_ANNOTATION]: retryOf } }),
  },
  spec: { vmiName: name, ...(Object.keys(nodeSelector).length > 0 && { addedNodeSelector: nodeSelector }) },
});
