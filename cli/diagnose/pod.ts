import type { ContainerStatus, Pod } from '../../api/kubernetes/types.ts';
import { briefly, clause } from '../words.ts';
import type { Facts } from './facts.ts';

/** On the target Pod of a migration: uid of the VirtualMachineInstanceMigration (KubeVirt's API types). */
const MIGRATION_LABEL = 'kubevirt.io/migrationJobUID';

/** A container that waits for one of these is on its way. */
const ON_ITS_WAY = ['PodInitializing', 'ContainerCreating'];

/** Name of the launcher's container. */
const COMPUTE = 'compute';

const podsOf = ({ pods }: Facts): Pod[] => (pods.answered ? pods.value : []);

/** The Pod that holds the guest or shall hold it: the one on the VMI's node, else the newest that is no migration's target. */
export function guestPod(facts: Facts): Pod | undefined {
  const pods = podsOf(facts);
  const node = facts.vmi?.status?.nodeName;
  const starting = pods.filter(({ metadata }) => metadata?.labels?.[MIGRATION_LABEL] === undefined);
  const holding = pods.filter(({ metadata, spec }) => {
    const active = facts.vmi?.status?.activePods?.[metadata?.uid ?? ''];
    return node !== undefined && active !== undefined && spec?.nodeName === node;
  });
  return holding.at(-1) ?? starting.at(-1);
}

/** The target Pod of a migration. */
export const targetPod = (facts: Facts, migrationUid: string): Pod | undefined =>
  podsOf(facts).find(({ metadata }) => metadata?.labels?.[MIGRATION_LABEL] === migrationUid);

/** Why no node takes the guest's Pod. */
export function unschedulable(facts: Facts): string | undefined {
  const pod = guestPod(facts);
  return pod && noNode(pod);
}

/** Why no node takes a Pod. */
export function noNode(pod: Pod): string | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? clause(briefly(`${scheduled.reason}: ${scheduled.message}`)) : undefined;
}

/** A container that cannot start, and why; init containers first. */
export function stuck(pod: Pod): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  for (const { name, image, state } of [...initContainerStatuses, ...containerStatuses]) {
    const { reason, message } = state?.waiting ?? {};
    if (reason !== undefined && !ON_ITS_WAY.includes(reason))
      return clause(`container ${name} (${image}): ${reason}${message ? `: ${message}` : ''}`);
  }
  return undefined;
}

const compute = (pod: Pod): ContainerStatus | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === COMPUTE);

/** The launcher's container runs and all others are ready. The Pod's own readiness waits for the guest. */
export const computeReady = (pod: Pod): boolean =>
  compute(pod)?.state?.running !== undefined &&
  (pod.status?.containerStatuses ?? []).every(({ name, ready }) => name === COMPUTE || ready);

/** Why a Pod that ended did so. */
export function endOf(pod: Pod): string | undefined {
  const { phase, reason, message } = pod.status ?? {};
  if (phase !== 'Failed' && phase !== 'Succeeded') return undefined;
  const terminated = compute(pod)?.state?.terminated;
  const code = terminated === undefined ? '' : `compute ended with exit code ${terminated.exitCode}`;
  return [`the Pod is ${phase}`, reason, message, code].filter((text) => text).join(': ');
}
