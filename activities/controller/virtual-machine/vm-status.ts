import type { ConditionReport, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import type { Condition } from '../conditions.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf, sameJson } from '../merge-patch.ts';
import type { Followed } from './follow-template.ts';
import type { ObservedReferences } from './instance-types.ts';
import { printableStatus } from './printable-status.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';

/** Of the VM itself, and another writer's; everything else on a VM mirrors its VMI or comes from the entity. */
const FOREIGN = 'ManualRecoveryRequired';

/** What a VM's status is made of besides the report of its entity. */
export interface Observed {
  vmi: VirtualMachineInstance | undefined;
  /** Some claim of the VM's volumes exists and is not bound. */
  claimUnbound: boolean;
  /** How far the DataVolumes of the VM's volumes are; absent: nothing is waited for. */
  dataVolumes?: 'failed' | 'provisioning' | undefined;
  /** Absent: there is no instance. */
  followed?: Followed | undefined;
  /** Absent: nobody has looked. */
  references?: ObservedReferences;
}

/** Ready as the VMI has it (or why it has none), then every other condition of the VMI. */
export const mirroredConditions = (vmi: VirtualMachineInstance | undefined): Condition[] => {
  const conditions: Condition[] = vmi?.status?.conditions ?? [];
  const no = (reason: string, message: string): Condition => ({ type: 'Ready', status: 'False', reason, message });
  const ready =
    vmi === undefined
      ? no('VMINotExists', 'VMI does not exist')
      : (conditions.find(({ type }) => type === 'Ready') ??
        no('VMIConditionMissing', 'VMI is missing the Ready condition'));
  return [ready, ...conditions.filter(({ type }) => type !== 'Ready')];
};

/**
 * What has to change in a VM's status so that it says what its entity knows and what its VMI shows; undefined when it says so already.
 * Requests belong to the front door: only settled ones are taken off the head of their list. volumeRequests are not touched.
 */
export const virtualMachinePatch = (
  vm: VirtualMachine,
  observed: Observed,
  report: VirtualMachineReport,
  now: string,
): Record<string, unknown> | undefined => {
  const { vmi, followed } = observed;
  const own = [...failures(report, observed), ...restartRequired(followed)];
  const said = new Set([...own.map(({ type }) => type), 'RestartRequired']);
  const mirrored = mirroredConditions(vmi).map(asReport);
  const requests = remainingRequests(vm, report);
  return mergePatchOf(vm, {
    status: {
      created: vmi !== undefined,
      ready: isTrue(vmi, 'Ready'),
      printableStatus: statusWord(vm, observed, report),
      observedGeneration: followed?.generation ?? report.generation,
      desiredGeneration: vm.metadata?.generation ?? 0,
      startFailure: report.startFailure ?? null,
      ...(report.runStrategy === undefined ? {} : { runStrategy: report.runStrategy }),
      ...(requests === undefined ? {} : { stateChangeRequests: requests.length === 0 ? null : requests }),
      ...observed.references?.status,
      conditions: mergeConditions(
        vm.status?.conditions ?? [],
        [...mirrored.filter(({ type }) => !said.has(type)), ...own],
        (type) => type !== FOREIGN,
        timestamp(now),
      ),
    },
  });
};

/** What the entity has to say of failures; else that the VM refers to something that is not there. */
const failures = ({ conditions }: VirtualMachineReport, { references }: Observed): ConditionReport[] => {
  const isTold = references?.failure === undefined || conditions.some(({ type }) => type === 'Failure');
  return isTold ? conditions : [...conditions, { type: 'Failure', status: 'True', ...references.failure }];
};

const asReport = ({ type, status, reason, message }: Condition): ConditionReport => ({
  type,
  status: status === 'True' || status === 'False' ? status : 'Unknown',
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
});

const restartRequired = (followed: Followed | undefined): ConditionReport[] => {
  const { fieldsForRestart: fields = [] } = followed ?? {};
  if (fields.length === 0) return [];
  const message = `changed and cannot be taken by a running guest: ${fields.join(', ')}. Restart the VM.`;
  return [{ type: 'RestartRequired', status: 'True', reason: 'RestartRequired', message }];
};

/** The list of requests without the settled ones at its head, so that one that came later is never lost; undefined: none of them is on it. */
export const remainingRequests = (
  { status }: Pick<VirtualMachine, 'status'>,
  { settledRequests }: Pick<VirtualMachineReport, 'settledRequests'>,
): NonNullable<VirtualMachine['status']>['stateChangeRequests'] => {
  const queued = status?.stateChangeRequests ?? [];
  let head = 0;
  for (const { action, uid } of settledRequests) {
    const oldest = queued[head];
    if (oldest !== undefined && sameJson({ action: oldest.action, uid: oldest.uid }, { action, uid })) head += 1;
  }
  return head === 0 ? undefined : queued.slice(head);
};

/**
 * What is about to happen to the VMI counts as well as what it shows, so that a restart never reads "Stopped" in its middle; also when the VMI has gone
 * further than its VM's entity knows.
 */
const statusWord = (vm: VirtualMachine, observed: Observed, report: VirtualMachineReport): string => {
  const { vmi, claimUnbound, dataVolumes } = observed;
  const phase = vmi?.status?.phase;
  const { startFailure } = report;
  const backsOff = (startFailure?.consecutiveFailCount ?? 0) > 0;
  const runsAgain = report.then === 'run' || (report.then === 'runIfFailed' && phase === 'Failed');
  const isTerminating = vm.metadata?.deletionTimestamp !== undefined;
  if (!isTerminating && runsAgain && !backsOff && vmi !== undefined && isFinal(phase)) return 'Stopping';
  const { startFailure: _, ...status } = vm.status ?? {};
  return printableStatus({
    vm: { ...vm, status: { ...status, ...(startFailure === undefined ? {} : { startFailure }) } },
    ...{ vmi, claimUnbound, dataVolumes },
    creationExpected: vmi === undefined && runsAgain && !backsOff,
    deletionExpected: report.ends && vmi?.metadata?.uid === report.instance,
  });
};
