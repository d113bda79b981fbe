import type { InstanceReport } from '../../../api/contract/activities.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { MIGRATION_TARGET_NODE_LABEL } from '../../facts/labels.ts';
import { replacing } from '../merge-patch.ts';
import { migrationState } from '../migration/migration-state.ts';

/** Phases in which a target is chosen and the migration is neither over nor without any trace in the VMI (KubeVirt hands it over to the nodes then). */
const WITH_TARGET = new Set(['PreparingTarget', 'TargetReady', 'Running']);
const isOver = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

/** What the VMI's status says of its migration; what an earlier one left there is replaced. */
export const migrationFields = ({ status }: VirtualMachineInstance, { migration, node }: InstanceReport): object => {
  if (migration === undefined) return {};
  const { phase } = migration;
  const isShown = WITH_TARGET.has(phase) || isOver(phase);
  // Whoever asked for the node to be left has got it. Another node may have been asked for since.
  const wasAsked = phase === 'Succeeded' && status?.evacuationNodeName === migration.source?.node;
  return {
    ...(isShown ? { migrationState: replacing(status?.migrationState, migrationState(migration)) } : {}),
    ...(wasAsked && node !== status?.evacuationNodeName ? { evacuationNodeName: null } : {}),
  };
};

/** The target's node, while a migration is on its way there; the label goes with the migration. */
export const migrationLabels = (
  { metadata }: VirtualMachineInstance,
  { migration }: InstanceReport,
): Record<string, string | null> => {
  const target = migration !== undefined && WITH_TARGET.has(migration.phase) ? migration.target?.node : undefined;
  if (target !== undefined) return { [MIGRATION_TARGET_NODE_LABEL]: target };
  return metadata?.labels?.[MIGRATION_TARGET_NODE_LABEL] === undefined ? {} : { [MIGRATION_TARGET_NODE_LABEL]: null };
};
