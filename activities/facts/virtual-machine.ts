import type { VirtualMachineFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { VirtualMachine } from '../../api/kubevirt/types.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';

interface Meta {
  metadata?: { namespace?: string; name?: string; uid?: string };
}

/** Reference to an object of the API server. */
export const refOf = ({ metadata }: Meta): ObjectRef => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
});

/** spec.runStrategy, or spec.running translated (true: Always, false: Halted); '' when neither is given. */
export const runStrategyOf = ({ spec }: VirtualMachine): string =>
  spec.runStrategy ?? (spec.running === undefined ? '' : spec.running ? 'Always' : 'Halted');

const invalidIn = (vm: VirtualMachine): string | undefined => {
  const { running, runStrategy, template } = vm.spec;
  if (running !== undefined && runStrategy !== undefined) {
    return 'spec.running and spec.runStrategy exclude each other: remove spec.running.';
  }
  if (running === undefined && runStrategy === undefined)
    return 'spec.runStrategy is missing: set Always, RerunOnFailure, Manual, Halted or Once.';
  // The type says it is there; an object of the API server need not keep to it.
  if ((template as typeof template | undefined)?.spec === undefined) return 'spec.template.spec is missing.';
  return undefined;
};

/** Finalizer of the API server's garbage collector on what is deleted with propagation policy Orphan. */
const ORPHAN = 'orphan';

/** "false": DataVolumes are created by a start only. */
const IMMEDIATE_DATA_VOLUMES = 'kubevirt.io/immediate-data-volume-creation';

const dataVolumesOf = ({ metadata, spec }: VirtualMachine): VirtualMachineFacts['dataVolumes'] => {
  if ((spec.dataVolumeTemplates ?? []).length === 0) return undefined;
  return metadata?.annotations?.[IMMEDIATE_DATA_VOLUMES] === 'false' ? 'atStart' : 'now';
};

const needsRecovery = (vm: VirtualMachine): boolean => isTrue(vm, 'ManualRecoveryRequired');

const startFailureFacts = (
  failure: NonNullable<VirtualMachine['status']>['startFailure'],
): Pick<VirtualMachineFacts, 'startFailure'> => {
  const { consecutiveFailCount: count = 0, lastFailedVMIUID: uid = '', retryAfterTimestamp: retryAt } = failure ?? {};
  return count === 0 || retryAt === undefined ? {} : { startFailure: { count, uid, retryAt } };
};

/** What decisions about a VirtualMachine need. */
export const virtualMachineFacts = (vm: VirtualMachine): VirtualMachineFacts => {
  const invalid = invalidIn(vm);
  const { finalizers = [], deletionTimestamp } = vm.metadata ?? {};
  const { runStrategy: ranUnder, startFailure } = vm.status ?? {};
  const dataVolumes = dataVolumesOf(vm);
  return {
    vm: refOf(vm),
    resourceVersion: vm.metadata?.resourceVersion ?? '',
    generation: vm.metadata?.generation ?? 0,
    runStrategy: runStrategyOf(vm),
    deleting: deletionTimestamp !== undefined,
    ...(deletionTimestamp !== undefined && finalizers.includes(ORPHAN) ? { orphans: true } : {}),
    finalizers,
    stateChangeRequests: vm.status?.stateChangeRequests ?? [],
    ...(ranUnder === undefined ? {} : { ranUnder }),
    ...startFailureFacts(startFailure),
    ...(dataVolumes === undefined ? {} : { dataVolumes }),
    ...(needsRecovery(vm) ? { manualRecovery: true } : {}),
    ...(invalid === undefined ? {} : { invalid }),
  };
};
