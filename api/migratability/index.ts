import type { ConditionReport } from '../contract/activities.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';
import { clock, cpuModel, encryptedMemory, hostDevices, hypervPassthrough } from './machine.ts';
import { podNetwork } from './network.ts';
import type { MigratabilityFacts, Obstacle, Rule } from './obstacle.ts';
import { copiesDisks, filesystems, hotplug, keptState, reservations, volumes } from './storage.ts';

export type { MigratabilityFacts } from './obstacle.ts';

/** In KubeVirt's order: of several reasons the first one is the condition's. */
const RULES: Rule[] = [
  podNetwork,
  cpuModel,
  hostDevices,
  encryptedMemory,
  reservations,
  clock,
  hypervPassthrough,
  filesystems,
  hotplug,
  keptState,
];

export interface Migratability {
  /** Condition LiveMigratable: the guest can move to another node. */
  live: ConditionReport;
  /** Condition StorageLiveMigratable: it could if its disks moved along. */
  storage: ConditionReport;
  /** status.migrationMethod: what is not shared is copied with the memory, or there is nothing to copy. */
  method: 'LiveMigration' | 'BlockMigration';
}

/**
 * Whether a VMI can be migrated, by KubeVirt's rules; every obstacle is named, the condition's reason is that of the first.
 * @param vmi with all defaults
 */
export const migratability = (vmi: VirtualMachineInstance, facts: MigratabilityFacts): Migratability => {
  const obstacles = RULES.flatMap((rule) => rule(vmi, facts));
  const all = [...obstacles, ...volumes(vmi, facts)];
  return {
    live: {
      type: 'LiveMigratable',
      ...(all[0] === undefined ? yes : { status: 'False', reason: all[0].reason, message: texts(all).join('; ') }),
    },
    storage: {
      type: 'StorageLiveMigratable',
      ...(obstacles.length === 0
        ? yes
        : { status: 'False', reason: 'NotMigratable', message: obstacles.map(named).join(', ') }),
    },
    method: copiesDisks(vmi) ? 'BlockMigration' : 'LiveMigration',
  };
};

const yes = { status: 'True' } as const;

const texts = (obstacles: Obstacle[]): string[] => obstacles.map(({ message }) => message);

const named = ({ reason, message }: Obstacle): string => `${reason}: ${message}`;
