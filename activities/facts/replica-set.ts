import type { Replica } from '../../api/contract/replica-sets.ts';
import type { LabelSelector } from '../../api/kubernetes/label-selector.ts';
import { matchesSelector } from '../../api/kubernetes/label-selector.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../api/kubevirt/types.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';
import { isFinal } from './instance.ts';
import { refOf } from './virtual-machine.ts';

export const REPLICA_SET = 'VirtualMachineInstanceReplicaSet';

/** Uid of the object that controls a VMI; undefined: nobody does. */
export const controllerOf = ({ metadata }: VirtualMachineInstance): string | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;

/** Its labels are those of the set's VMIs, in the set's namespace. A selector that selects nothing in particular selects nothing. */
export const isSelected = ({ metadata }: VirtualMachineInstance, set: VirtualMachineInstanceReplicaSet): boolean =>
  metadata?.namespace === set.metadata?.namespace &&
  !isEmpty(set.spec.selector) &&
  matchesSelector(set.spec.selector, metadata?.labels ?? {});

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length + matchExpressions.length === 0;

/** How a VMI counts for the replica set that owns it (KubeVirt's rules). */
export const replicaOf = (vmi: VirtualMachineInstance): Replica => {
  const { metadata, status } = vmi;
  const hasEnded = isFinal(status?.phase) || status?.phase === 'Unknown';
  return {
    vmi: refOf(vmi),
    standing: metadata?.deletionTimestamp !== undefined ? 'leaving' : hasEnded ? 'ended' : 'active',
    ready: isTrue(vmi, 'Ready'),
    createdAt: metadata?.creationTimestamp ?? '',
    ...timesOf(vmi),
  };
};

const timesOf = ({ status }: VirtualMachineInstance): Pick<Replica, 'runningSince' | 'endedAt'> => {
  const reached = (holds: (phase: string | undefined) => boolean): string | undefined =>
    status?.phaseTransitionTimestamps?.find(({ phase }) => holds(phase))?.phaseTransitionTimestamp;
  const runningSince = reached((phase) => phase === 'Running');
  const endedAt = reached(isFinal);
  return { ...(runningSince === undefined ? {} : { runningSince }), ...(endedAt === undefined ? {} : { endedAt }) };
};

/** A label selector as `kubectl -l` takes it: for the scale subresource. */
export const selectorText = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string =>
  [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({ key, text: termOf(key, operator, values) })),
  ]
    .sort((a, b) => a.key.localeCompare(b.key))
    .map(({ text }) => text)
    .join(',');

const termOf = (key: string, operator: string, values: readonly string[]): string => {
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${key} in ${list}`;
    case 'NotIn':
      return `${key} notin ${list}`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
};
