import type { MigrationFacts } from '../../api/contract/migrations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/types.ts';
import { MIGRATION_FINALIZER } from '../../api/kubevirt/finalizers.ts';
import { UnreadableObject, parseMigration } from '../../api/schemas/index.ts';
import { isFinal } from './instance.ts';
import { invalidSetting } from './migration-settings.ts';
import { refOf } from './virtual-machine.ts';

/** What decisions about a VMIM need. One whose spec cannot be read, or cannot work, says so in `invalid`. */
export const migrationFacts = (vmim: VirtualMachineInstanceMigration): MigrationFacts => {
  const { metadata } = vmim;
  const known = {
    migration: refOf(vmim),
    resourceVersion: metadata?.resourceVersion ?? '',
    deleting: metadata?.deletionTimestamp !== undefined,
    finalizers: metadata?.finalizers ?? [],
  };
  const read = readable(vmim);
  if (read instanceof UnreadableObject) {
    return { ...known, vmiName: '', phase: phaseOf(vmim), invalid: read.message };
  }
  const { vmiName = '', priority, addedNodeSelector } = read.spec;
  const invalid = invalidIn(read) ?? invalidSetting(read);
  return {
    ...known,
    vmiName,
    phase: phaseOf(read),
    ...(priority === undefined ? {} : { priority }),
    ...(addedNodeSelector === undefined ? {} : { addedNodeSelector }),
    ...(invalid === undefined ? {} : { invalid }),
  };
};

const readable = (vmim: VirtualMachineInstanceMigration): VirtualMachineInstanceMigration | UnreadableObject => {
  try {
    return parseMigration(vmim);
  } catch (error) {
    if (error instanceof UnreadableObject) return error;
    throw error;
  }
};

const phaseOf = ({ status }: VirtualMachineInstanceMigration): string => {
  const phase: unknown = status?.phase;
  return typeof phase === 'string' ? phase : '';
};

const invalidIn = ({ spec }: VirtualMachineInstanceMigration): string | undefined => {
  if (!spec.vmiName) return 'spec.vmiName is missing: name the VirtualMachineInstance to migrate.';
  const elsewhere = (['sendTo', 'receive'] as const).find((field) => spec[field] !== undefined);
  if (elsewhere === undefined) return undefined;
  return `spec.${elsewhere} is not supported yet: a VM moves between the nodes of one cluster only.`;
};

/** Nothing is left to do for a workflow: the migration is over, and so it says. */
export const isReleased = ({ phase, finalizers }: Pick<MigrationFacts, 'phase' | 'finalizers'>): boolean =>
  isFinal(phase) && !finalizers.includes(MIGRATION_FINALIZER);

/** What is known of a migration whose object is gone. */
export const goneMigration = (migration: ObjectRef): MigrationFacts => ({
  migration,
  resourceVersion: '',
  vmiName: '',
  phase: '',
  deleting: true,
  finalizers: [],
  gone: true,
});
