import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { runStrategyOf } from '../../facts/virtual-machine.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';

/** What printableStatus is made of. */
export interface VmView {
  vm: VirtualMachine;
  /** The VM's own VMI, if there is one. */
  vmi: VirtualMachineInstance | undefined;
  /** Some claim of the VM's volumes exists and is not bound. */
  claimUnbound: boolean;
  /** How far the DataVolumes of the VM's volumes are; absent: nothing is waited for. */
  dataVolumes?: 'failed' | 'provisioning' | undefined;
  /** A VMI is about to be created. */
  creationExpected: boolean;
  /** The VMI is about to be deleted. */
  deletionExpected: boolean;
}

const STARTING_PHASES = new Set(['', 'Pending', 'Scheduling', 'Scheduled']);

/** Strategies under which a VMI that failed to start is tried again. */
const RETRIED = new Set(['Always', 'RerunOnFailure', 'Once']);

const phaseOf = ({ vmi }: VmView): string => vmi?.status?.phase ?? '';

const synchronizedReason = ({ vmi }: VmView): string | undefined =>
  vmi?.status?.conditions?.find(({ type, status }) => type === 'Synchronized' && status === 'False')?.reason;

const isMigrating = ({ vmi }: VmView): boolean => {
  const { startTimestamp, endTimestamp } = vmi?.status?.migrationState ?? {};
  return startTimestamp !== undefined && endTimestamp === undefined;
};

const isUnschedulable = ({ vmi }: VmView): boolean =>
  vmi?.status?.conditions?.some(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  ) ?? false;

const isStopping = (view: VmView): boolean =>
  view.vmi !== undefined &&
  !isFinal(phaseOf(view)) &&
  (view.vmi.metadata?.deletionTimestamp !== undefined || view.deletionExpected);

const isStarting = (view: VmView): boolean =>
  view.vmi === undefined ? view.creationExpected : STARTING_PHASES.has(phaseOf(view));

/** A claim that is not bound is told only of a VM that is meant to run: by its strategy, or because somebody asked. */
const isMeantToRun = (view: VmView): boolean => {
  const { vm, vmi } = view;
  const strategy = runStrategyOf(vm);
  const [request] = vm.status?.stateChangeRequests ?? [];
  const isAsked = request?.action === 'Start';
  switch (strategy) {
    case 'Always':
      return true;
    case 'Manual':
      return vmi === undefined ? isAsked : !(request?.action === 'Stop' && request.uid === vmi.metadata?.uid);
    case 'RerunOnFailure':
      return vmi === undefined ? isAsked || vm.status?.runStrategy !== strategy : phaseOf(view) !== 'Succeeded';
    case 'Once':
      return vmi === undefined;
    default:
      return false;
  }
};

const isCrashLooping = ({ vm, vmi, creationExpected }: VmView): boolean =>
  !creationExpected &&
  (vm.status?.startFailure?.consecutiveFailCount ?? 0) > 0 &&
  RETRIED.has(runStrategyOf(vm)) &&
  (vmi === undefined || isFinal(vmi.status?.phase));

const isStopped = (view: VmView): boolean => (view.vmi === undefined ? !view.creationExpected : isFinal(phaseOf(view)));

/** In the order in which they are tried; the first that holds is the status (KubeVirt's VM controller). */
const STATUSES: [string, (view: VmView) => boolean][] = [
  ['Terminating', ({ vm }) => vm.metadata?.deletionTimestamp !== undefined],
  ['Stopping', isStopping],
  ['Migrating', isMigrating],
  ['Paused', (view) => phaseOf(view) === 'Running' && isTrue(view.vmi, 'Paused')],
  ['Running', (view) => phaseOf(view) === 'Running'],
  ['ErrorPvcNotFound', (view) => synchronizedReason(view) === 'FailedPvcNotFound'],
  ['DataVolumeError', ({ dataVolumes }) => dataVolumes === 'failed'],
  ['ErrorUnschedulable', isUnschedulable],
  ['Provisioning', ({ dataVolumes }) => dataVolumes === 'provisioning'],
  ['WaitingForVolumeBinding', (view) => view.claimUnbound && isMeantToRun(view)],
  ['ErrImagePull', (view) => synchronizedReason(view) === 'ErrImagePull'],
  ['ImagePullBackOff', (view) => synchronizedReason(view) === 'ImagePullBackOff'],
  ['Starting', isStarting],
  ['CrashLoopBackOff', isCrashLooping],
  ['Stopped', isStopped],
  ['WaitingForReceiver', (view) => phaseOf(view) === 'WaitingForSync' && runStrategyOf(view.vm) === 'WaitAsReceiver'],
];

/** status.printableStatus: one word for people. */
export const printableStatus = (view: VmView): string => STATUSES.find(([, isSo]) => isSo(view))?.[0] ?? 'Unknown';
