import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ReplicaSetView } from '../../../api/contract/replica-sets.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { OwnerReference } from '../../../api/kubernetes/types.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { UnreadableObject, parseReplicaSet } from '../../../api/schemas/index.ts';
import { controllerOf, isSelected, REPLICA_SET, replicaOf } from '../../facts/replica-set.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { findReplicaSet } from './read.ts';

/** Claims as Kubernetes' own controllers do: one that is being deleted lets nothing go and takes nothing on. */
export const claimReplicas =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['claimReplicas'] =>
  async (ref) => {
    const found = await findReplicaSet(kube, ref);
    if (found === undefined) return { ...NOTHING, gone: true };
    const set = readable(found);
    if (typeof set === 'string') return { ...NOTHING, ...flagsOf(found), invalid: set };
    const vmis = await kube.list('VirtualMachineInstance', { namespace: ref.namespace });
    const own = await Promise.all(vmis.map((vmi) => claimed(kube, set, vmi)));
    return {
      ...flagsOf(set),
      ...(set.metadata?.generation === undefined ? {} : { generation: set.metadata.generation }),
      wanted: set.spec.replicas ?? 1,
      replicas: own.flatMap((vmi) => (vmi === undefined ? [] : [replicaOf(vmi)])),
    };
  };

const NOTHING: ReplicaSetView = { deleting: false, paused: false, wanted: 0, replicas: [] };

const flagsOf = ({ metadata, spec }: VirtualMachineInstanceReplicaSet) => ({
  deleting: metadata?.deletionTimestamp !== undefined,
  paused: (spec as { paused?: unknown } | undefined)?.paused === true,
});

/** The set, or why it cannot work. */
const readable = (found: VirtualMachineInstanceReplicaSet): VirtualMachineInstanceReplicaSet | string => {
  try {
    const set = parseReplicaSet(found);
    // It would create VMIs without end, none of which were its own.
    if (!isSelected(madeBy(set), set)) return 'spec.selector does not select spec.template.metadata.labels.';
    return set;
  } catch (error) {
    if (error instanceof UnreadableObject) return error.message;
    throw error;
  }
};

const madeBy = ({ metadata, spec }: VirtualMachineInstanceReplicaSet): VirtualMachineInstance => ({
  metadata: { namespace: metadata?.namespace ?? '', labels: spec.template.metadata?.labels ?? {} },
  spec: { domain: { devices: {} } },
});

/** The VMI if it is the set's, now or already. */
const claimed = async (
  kube: KubePort,
  set: VirtualMachineInstanceReplicaSet,
  vmi: VirtualMachineInstance,
): Promise<VirtualMachineInstance | undefined> => {
  const owner = controllerOf(vmi);
  const isOwn = owner !== undefined && owner === set.metadata?.uid;
  if (owner !== undefined && !isOwn) return undefined;
  const isWanted = isSelected(vmi, set);
  if (isOwn === isWanted) return isOwn ? vmi : undefined;
  const isOver = set.metadata?.deletionTimestamp !== undefined || vmi.metadata?.deletionTimestamp !== undefined;
  if (isOver) return isOwn ? vmi : undefined;
  const others = (vmi.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata?.uid);
  const ownerReferences = isWanted ? [...others, ownerReference(set)] : others;
  return setOwners(kube, vmi, ownerReferences, isWanted);
};

/** Nothing if somebody else wrote in between: the bridge tells of that. */
const setOwners = async (
  kube: KubePort,
  { metadata }: VirtualMachineInstance,
  ownerReferences: object[],
  isOwn: boolean,
): Promise<VirtualMachineInstance | undefined> => {
  const { namespace = '', name = '', uid, resourceVersion } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  try {
    const written = await kube.mergePatch('VirtualMachineInstance', { namespace, name }, body);
    return isOwn ? written : undefined;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
    return undefined;
  }
};

/** What makes a VMI the set's. */
export const ownerReference = ({ metadata }: { metadata?: Partial<ObjectRef> }): OwnerReference => ({
  ...{ apiVersion: KUBEVIRT_API_VERSION, kind: REPLICA_SET, name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
  ...{ controller: true, blockOwnerDeletion: true },
});
