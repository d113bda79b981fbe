import type { ConditionReport } from '../../../api/contract/activities.ts';
import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import type { DataVolume } from '../../../api/kubevirt/types.ts';

/** Phases in which the claim can be used: it is filled, or its populator waits for the launcher Pod and holds the claim back until it is done. */
const USABLE = ['Succeeded', 'PendingPopulation'];

/** Name of the DataVolume that fills a claim; undefined: the claim is as its user made it. */
export const fillerOf = (claim: PersistentVolumeClaim | undefined): string | undefined =>
  claim?.metadata?.ownerReferences?.find(({ kind, controller }) => kind === 'DataVolume' && controller)?.name;

/** Why a DataVolume's claim cannot be used yet. `unbound`: it is filled only once it is bound for a first consumer. `failed`: it never will be. */
export interface DataVolumeObstacle {
  kind: 'unfilled' | 'unbound' | 'failed';
  text: string;
}

/** Undefined: its claim can be used. */
export const dataVolumeObstacle = ({ metadata, status }: DataVolume): DataVolumeObstacle | undefined => {
  const phase = status?.phase ?? 'Pending';
  if (metadata?.deletionTimestamp !== undefined) {
    return { kind: 'unfilled', text: 'is being deleted. Wait for its end and create it again.' };
  }
  if (USABLE.includes(phase)) return undefined;
  if (phase === 'Failed') return { kind: 'failed', text: 'has failed. Look at: kubectl describe datavolume.' };
  if (phase === 'WaitForFirstConsumer') {
    return { kind: 'unbound', text: 'is bound to a node before it is filled. The start goes on by itself.' };
  }
  const progress = status?.progress === undefined || status.progress === 'N/A' ? '' : ` (${status.progress})`;
  return { kind: 'unfilled', text: `is not filled yet: ${phase}${progress}. The start goes on by itself.` };
};

/** Condition DataVolumesReady, by KubeVirt's rule: False if one says that it is not ready, Unknown if one says nothing; undefined: there are none. */
export const dataVolumesReady = (dataVolumes: readonly DataVolume[]): ConditionReport | undefined => {
  if (dataVolumes.length === 0) return undefined;
  const statuses = dataVolumes.map(({ status }) => statusOf(status?.conditions?.find(({ type }) => type === 'Ready')));
  const type = 'DataVolumesReady';
  if (statuses.every((status) => status === 'True')) {
    return { type, status: 'True', reason: 'AllDVsReady', message: "All of the VMI's DVs are bound and ready" };
  }
  const status = statuses.includes('False') ? 'False' : 'Unknown';
  return { type, status, reason: 'NotAllDVsReady', message: "Not all of the VMI's DVs are ready" };
};

const statusOf = (condition: { status: string } | undefined): ConditionReport['status'] =>
  condition?.status === 'True' || condition?.status === 'False' ? condition.status : 'Unknown';
