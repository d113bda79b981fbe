import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { EvacuationView, Leaving } from '../../../api/contract/evacuation.ts';
import { EVACUATION_ANNOTATION } from '../../../api/contract/evacuation.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { EvictionRules } from '../../facts/evacuation.ts';
import { askedToLeave, obstacleTo } from '../../facts/evacuation.ts';
import { isFinal } from '../../facts/instance.ts';
import { NODE_NAME_LABEL } from '../../facts/labels.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import { byAge, unfinished } from '../migration/read.ts';
import type { ControllerPorts } from '../ports.ts';

/** Reads the Node, its VMIs and their migrations. */
export const observeEvacuation =
  ({ kube, config }: Pick<ControllerPorts, 'kube' | 'config'>): ControllerActivities['observeEvacuation'] =>
  async ({ node: ref }) => {
    const node = await kube.get('Node', { name: ref.name });
    if (node?.metadata?.uid !== ref.uid) return { gone: true, cordoned: false, leaving: [], unwanted: [] };
    const vmis = await kube.list('VirtualMachineInstance', { labelSelector: `${NODE_NAME_LABEL}=${ref.name}` });
    return evacuationView(node, vmis, await migrationsBeside(kube, vmis), config());
  };

/** Migrations in the namespaces of the VMIs. */
const migrationsBeside = async (
  kube: KubePort,
  vmis: readonly VirtualMachineInstance[],
): Promise<VirtualMachineInstanceMigration[]> => {
  const namespaces = [...new Set(vmis.map(({ metadata }) => metadata?.namespace ?? ''))];
  const lists = namespaces.map((namespace) => kube.list('VirtualMachineInstanceMigration', { namespace }));
  return (await Promise.all(lists)).flat();
};

/**
 * What there is to do on a node. Pure.
 * @param vmis that run on it, or did a moment ago
 * @param vmims at least all of these VMIs
 */
export const evacuationView = (
  node: Node,
  vmis: readonly VirtualMachineInstance[],
  vmims: readonly VirtualMachineInstanceMigration[],
  rules: EvictionRules,
): EvacuationView => {
  const of = migrationsByInstance(vmims);
  const all = vmis.map((vmi) => ({ vmi, by: askedToLeave(vmi, node, rules), migrations: of(vmi) }));
  const leaving = all.flatMap(({ vmi, by, migrations }) =>
    by === undefined ? [] : [leavingOf(vmi, by, migrations, rules)],
  );
  const stays = all.filter(({ vmi, by }) => by === undefined && vmi.status?.nodeName === node.metadata?.name);
  return {
    cordoned: node.spec?.unschedulable === true,
    leaving: leaving.sort((a, b) => nameOf(a.vmi).localeCompare(nameOf(b.vmi))),
    unwanted: stays.flatMap(({ migrations }) => migrations.filter((vmim) => isRevocable(vmim, node)).map(refOf)),
  };
};

const nameOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;

/** Migrations of one VMI, oldest first; not those of an earlier VMI of its name. */
const migrationsByInstance = (vmims: readonly VirtualMachineInstanceMigration[]) => {
  const byName = Map.groupBy([...vmims].sort(byAge), (vmim) =>
    nameOf({ ...migrationFacts(vmim).migration, name: migrationFacts(vmim).vmiName }),
  );
  return (vmi: VirtualMachineInstance): VirtualMachineInstanceMigration[] =>
    (byName.get(nameOf(refOf(vmi))) ?? []).filter(
      ({ metadata }) => (metadata?.creationTimestamp ?? '') >= (vmi.metadata?.creationTimestamp ?? ''),
    );
};

const leavingOf = (
  vmi: VirtualMachineInstance,
  by: Leaving['by'],
  migrations: readonly VirtualMachineInstanceMigration[],
  rules: EvictionRules,
): Leaving => {
  const obstacle = obstacleTo(vmi, rules);
  const underWay = unfinished(migrations);
  const failed = failedOf(migrations);
  return {
    ...{ vmi: refOf(vmi), by },
    ...(obstacle === undefined ? {} : { obstacle }),
    ...(underWay === undefined
      ? {}
      : { migration: { name: refOf(underWay).name, phase: migrationFacts(underWay).phase || 'Pending' } }),
    ...(failed === undefined ? {} : { failed }),
  };
};

const isEvacuation = ({ metadata }: VirtualMachineInstanceMigration): boolean =>
  metadata?.annotations?.[EVACUATION_ANNOTATION] !== undefined;

/** How often an evacuation has failed since the last success: those that users ask for, and those that are being cancelled, do not count. */
const failedOf = (migrations: readonly VirtualMachineInstanceMigration[]): Leaving['failed'] => {
  const over = migrations.filter((vmim) => isEvacuation(vmim) && !migrationFacts(vmim).deleting);
  const lastSuccess = over.findLastIndex(({ status }) => status?.phase === 'Succeeded');
  const failures = over.slice(lastSuccess + 1).filter(({ status }) => status?.phase === 'Failed');
  const last = failures.at(-1);
  if (last === undefined) return undefined;
  const { metadata, status } = last;
  const told = status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Failed')?.phaseTransitionTimestamp;
  const at = Number.isNaN(Date.parse(told ?? '')) ? metadata?.creationTimestamp : told;
  return {
    ...{ count: failures.length, name: metadata?.name ?? '', at: at ?? '' },
    message: status?.migrationState?.failureReason ?? 'it does not say why',
  };
};

/** It was created to empty this node, and has not begun to copy the guest. */
export const isRevocable = (vmim: VirtualMachineInstanceMigration, { metadata }: Pick<Node, 'metadata'>): boolean => {
  const { phase, deleting } = migrationFacts(vmim);
  const isOurs = vmim.metadata?.annotations?.[EVACUATION_ANNOTATION] === metadata?.name;
  return isOurs && !deleting && phase !== 'Running' && !isFinal(phase);
};
