import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { Leaving } from '../../api/contract/evacuation.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';
import type { Node } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { isFinal } from './instance.ts';

/** What of the configuration says who is to leave a node. */
export type EvictionRules = Pick<ClusterConfig, 'evictionStrategy'> & {
  migrations: Pick<ClusterConfig['migrations'], 'nodeDrainTaintKey'>;
};

/** The node carries the taint that empties it (KubeVirt's older way to drain a node). */
export const isDrained = ({ spec }: Node, { migrations }: EvictionRules): boolean =>
  spec?.taints?.some(({ key, effect }) => key === migrations.nodeDrainTaintKey && effect === 'NoSchedule') ?? false;

/** What an eviction means for the VMI: its own word, else the cluster's. */
export const evictionStrategyOf = ({ spec }: VirtualMachineInstance, { evictionStrategy }: EvictionRules): string =>
  spec.evictionStrategy || evictionStrategy;

const isMigratable = (vmi: VirtualMachineInstance): boolean => isTrue(vmi, 'LiveMigratable');

/** An eviction of the VMI is to be a migration. */
const migrates = (vmi: VirtualMachineInstance, rules: EvictionRules): boolean => {
  const strategy = evictionStrategyOf(vmi, rules);
  return strategy === 'LiveMigrate' || (strategy === 'LiveMigrateIfPossible' && isMigratable(vmi));
};

/** Whether and why a VMI is to leave the node that it runs on; undefined: it may stay, or is on its end anyway. */
export const askedToLeave = (
  vmi: VirtualMachineInstance,
  node: Node,
  rules: EvictionRules,
): Leaving['by'] | undefined => {
  const { metadata, status } = vmi;
  const name = node.metadata?.name;
  if (name === undefined || status?.nodeName !== name) return undefined;
  if (metadata?.deletionTimestamp !== undefined || isFinal(status.phase)) return undefined;
  if (isDrained(node, rules) && migrates(vmi, rules)) return 'taint';
  return status.evacuationNodeName === name ? 'eviction' : undefined;
};

/** Why a VMI that is to leave is not migrated; undefined: it can be. */
export const obstacleTo = (vmi: VirtualMachineInstance, rules: EvictionRules): Leaving['obstacle'] => {
  const strategy = evictionStrategyOf(vmi, rules);
  if (strategy === 'External')
    return { reason: 'External', message: 'its eviction strategy is External: another controller takes it away' };
  if (!['LiveMigrate', 'LiveMigrateIfPossible'].includes(strategy))
    return { reason: 'NotMigratable', message: `its eviction strategy is ${strategy}: nobody migrates it` };
  if (!isMigratable(vmi)) return { reason: 'NotMigratable', message: whyNotMigratable(vmi) };
  const pods = Object.keys(vmi.status?.activePods ?? {}).length;
  if (pods <= 1) return undefined;
  return {
    reason: 'PodsLeft',
    message: `${pods} launcher Pods of it are there: one of an earlier migration has to end`,
  };
};

const whyNotMigratable = ({ status }: VirtualMachineInstance): string => {
  const found = status?.conditions?.find(({ type }) => type === 'LiveMigratable');
  if (found === undefined) return 'it is not known yet whether it can be migrated';
  return `it cannot be migrated: ${[found.reason, found.message].filter(Boolean).join(': ')}`;
};
