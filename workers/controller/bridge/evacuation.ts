import { EVACUATION_ANNOTATION } from '../../../api/contract/evacuation.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { EvictionRules } from '../../../activities/facts/evacuation.ts';
import { askedToLeave, isDrained } from '../../../activities/facts/evacuation.ts';
import { isFinal } from '../../../activities/facts/instance.ts';
import { migrationFacts } from '../../../activities/facts/migration.ts';
import type { Change } from '../../shared/informer.ts';

/** What the bridge has to know to see whom an evacuation concerns. */
export interface EvacuationCaches {
  nodes: () => Node[];
  instances: () => VirtualMachineInstance[];
  rules: () => EvictionRules;
}

/**
 * Nodes whose evacuation may have something to do after a change. What it is, the workflow reads: here only what certainly makes no difference is left
 * out.
 */
export const evacuationsAfterInstance = (
  { before, after }: Change<VirtualMachineInstance>,
  caches: EvacuationCaches,
): Node[] => {
  if (instanceDigest(before) === instanceDigest(after)) return [];
  return named([...asks(before, caches), ...asks(after, caches)], caches);
};

/** What of a VMI makes a difference to whoever empties its node. */
const instanceDigest = (vmi: VirtualMachineInstance | undefined): string => {
  if (vmi === undefined) return '';
  const { metadata, spec, status } = vmi;
  const isOver = isFinal(status?.phase) || metadata?.deletionTimestamp !== undefined;
  const pods = Object.keys(status?.activePods ?? {}).length;
  const { evacuationNodeName = '', nodeName = '' } = status ?? {};
  return JSON.stringify([
    ...[evacuationNodeName, nodeName, isOver, pods],
    ...[spec.evictionStrategy, isTrue(vmi, 'LiveMigratable')],
  ]);
};

/** Names of the nodes that a VMI is to leave. */
const asks = (vmi: VirtualMachineInstance | undefined, { nodes, rules }: EvacuationCaches): string[] => {
  const { evacuationNodeName, nodeName } = vmi?.status ?? {};
  const node = nodes().find(({ metadata }) => metadata?.name === nodeName);
  return [
    ...(evacuationNodeName ? [evacuationNodeName] : []),
    ...(nodeName && node !== undefined && isDrained(node, rules()) ? [nodeName] : []),
  ];
};

/** A migration that has ended makes room for the next try, or leaves nothing more to do. */
export const evacuationsAfterMigration = (
  change: Change<VirtualMachineInstanceMigration>,
  caches: EvacuationCaches,
): Node[] => {
  const vmim = change.after ?? change.before;
  if (vmim === undefined || !hasEnded(change)) return [];
  const { migration, vmiName } = migrationFacts(vmim);
  const vmi = caches
    .instances()
    .find(({ metadata }) => metadata?.namespace === migration.namespace && metadata.name === vmiName);
  const annotated = vmim.metadata?.annotations?.[EVACUATION_ANNOTATION];
  return named([...(annotated === undefined ? [] : [annotated]), ...asks(vmi, caches)], caches);
};

const hasEnded = ({ before, after }: Change<VirtualMachineInstanceMigration>): boolean =>
  after === undefined || (isFinal(after.status?.phase) && !isFinal(before?.status?.phase));

/** A node that somebody is to leave was cordoned or uncordoned, or is gone; the taint that empties it came or went. */
export const evacuationsAfterNode = (
  { before, after }: Change<Node>,
  { instances, rules }: EvacuationCaches,
): Node[] => {
  const node = after ?? before;
  const isTainted = (one: Node | undefined): boolean => one !== undefined && isDrained(one, rules());
  const digest = (one: Node | undefined): string =>
    JSON.stringify([one === undefined, one?.spec?.unschedulable === true, isTainted(one)]);
  if (node === undefined || digest(before) === digest(after)) return [];
  const isAsked = ({ status }: VirtualMachineInstance): boolean => status?.evacuationNodeName === node.metadata?.name;
  return isTainted(before) || isTainted(after) || instances().some(isAsked) ? [node] : [];
};

const named = (names: readonly string[], { nodes }: EvacuationCaches): Node[] =>
  nodes().filter(({ metadata }) => names.includes(metadata?.name ?? ''));

/** Nodes that somebody is to leave, as far as the caches know. */
export const evacuationsInCache = ({ nodes, instances, rules }: EvacuationCaches): Node[] => {
  const vmis = instances();
  return nodes().filter((node) => vmis.some((vmi) => askedToLeave(vmi, node, rules()) !== undefined));
};
