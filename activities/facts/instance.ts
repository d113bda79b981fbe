import type { InstanceFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { refOf } from './virtual-machine.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';

/** KubeVirt's default of spec.terminationGracePeriodSeconds. */
export const DEFAULT_GRACE_SECONDS = 30;

/** Succeeded and Failed: nothing of the instance comes back. */
export const isFinal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** What decisions about a VirtualMachineInstance need. */
export const instanceFacts = (vmi: VirtualMachineInstance): InstanceFacts => {
  const { metadata, spec, status } = vmi;
  const owner = metadata?.ownerReferences?.find(({ kind, controller }) => kind === 'VirtualMachine' && controller);
  return {
    vmi: refOf(vmi),
    resourceVersion: metadata?.resourceVersion ?? '',
    phase: status?.phase ?? '',
    deleting: metadata?.deletionTimestamp !== undefined,
    ...(metadata?.deletionTimestamp === undefined ? {} : { deletionTimestamp: metadata.deletionTimestamp }),
    gracePeriodSeconds: graceSeconds(spec.terminationGracePeriodSeconds),
    finalizers: metadata?.finalizers ?? [],
    ...(owner === undefined ? {} : { owner: { name: owner.name, uid: owner.uid } }),
    ...(status?.phaseTransitionTimestamps?.some(({ phase }) => phase === 'Running') ? { ran: true } : {}),
    ready: isTrue(vmi, 'Ready'),
    paused: isTrue(vmi, 'Paused'),
    ...(status?.evacuationNodeName ? { evacuationNode: status.evacuationNodeName } : {}),
    ...(spec.startStrategy === 'Paused' ? { startPaused: true } : {}),
    ...(isUntouched(vmi) ? { untouched: true } : {}),
  };
};

/** As it is created: whoever starts it says more, first of all which Pod it has. */
const isUntouched = ({ metadata, status }: VirtualMachineInstance): boolean =>
  metadata?.deletionTimestamp === undefined &&
  (status?.phase ?? 'Pending') === 'Pending' &&
  status?.conditions === undefined &&
  status?.activePods === undefined &&
  status?.nodeName === undefined;

/** What is no whole number of seconds (a running VMI may have been edited so) counts as absent: its guest gets a deadline all the same. */
const graceSeconds = (given: unknown): number =>
  typeof given === 'number' && Number.isInteger(given) && given >= 0 ? given : DEFAULT_GRACE_SECONDS;

/** What is known of an instance whose object is gone. */
export const goneInstance = (vmi: ObjectRef): InstanceFacts => ({
  vmi,
  resourceVersion: '',
  phase: '',
  deleting: true,
  // What it had cannot be read any more.
  gracePeriodSeconds: DEFAULT_GRACE_SECONDS,
  finalizers: [],
  ready: false,
  paused: false,
  gone: true,
});
