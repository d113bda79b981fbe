import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import { migrationsOf } from './read.ts';

/** Migrations of one VMI that stay when they are over (KubeVirt's number). Temporal remembers the others for its retention. */
export const FINAL_MIGRATIONS_KEPT = 5;

/** Those that are too many: the oldest. @param migrations of one VMI, oldest first */
export const superfluous = (migrations: VirtualMachineInstanceMigration[]): VirtualMachineInstanceMigration[] => {
  const over = migrations.filter((vmim) => {
    const { phase, deleting } = migrationFacts(vmim);
    return isFinal(phase) && !deleting;
  });
  return over.slice(0, Math.max(0, over.length - FINAL_MIGRATIONS_KEPT));
};

/** Deletes what is too many of a VMI's migrations. */
export const tidyMigrations = async (kube: KubePort, namespace: string, vmiName: string): Promise<void> => {
  for (const vmim of superfluous(await migrationsOf(kube, namespace, vmiName))) {
    const ref = refOf(vmim);
    await kube.remove('VirtualMachineInstanceMigration', ref, { uid: ref.uid });
  }
};
