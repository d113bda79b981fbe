import type { ConditionReport, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { holds, isFinal } from '../../facts/instance.ts';
import { runStrategyOf } from '../../facts/virtual-machine.ts';
import type { Condition } from '../conditions.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf } from '../merge-patch.ts';
import { printableStatus } from './printable-status.ts';

/** Conditions of the VM itself that others may write; everything else on a VM mirrors its VMI or comes from the entity. */
const FOREIGN = new Set(['ManualRecoveryRequired', 'RestartRequired']);

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
 * stateChangeRequests and volumeRequests belong to the front door and are not touched here.
 */
export const virtualMachinePatch = (
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  report: VirtualMachineReport,
  claimUnbound: boolean,
  now: string,
): Record<string, unknown> | undefined => {
  const mirrored = mirroredConditions(vmi).map(asReport);
  const said = new Set(report.conditions.map(({ type }) => type));
  return mergePatchOf(vm, {
    status: {
      created: vmi !== undefined,
      ready: holds(vmi?.status?.conditions, 'Ready'),
      printableStatus: statusWord(vm, vmi, report, claimUnbound),
      observedGeneration: report.observedGeneration,
      desiredGeneration: vm.metadata?.generation ?? 0,
      startFailure: report.startFailure ?? null,
      ...(vmi === undefined ? {} : { runStrategy: runStrategyOf(vm) }),
      conditions: mergeConditions(
        vm.status?.conditions ?? [],
        [...mirrored.filter(({ type }) => !said.has(type)), ...report.conditions],
        (type) => !FOREIGN.has(type),
        timestamp(now),
      ),
    },
  });
};

const asReport = ({ type, status, reason, message }: Condition): ConditionReport => ({
  type,
  status: status === 'True' || status === 'False' ? status : 'Unknown',
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
});

/** The intent tells what is about to happen to the VMI, so that a restart never reads "Stopped" in its middle. */
const statusWord = (
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  { intent, startFailure }: VirtualMachineReport,
  claimUnbound: boolean,
): string => {
  const ends = intent !== 'run';
  if (intent === 'restart' && vmi !== undefined && isFinal(vmi.status?.phase)) return 'Stopping';
  const backingOff = (startFailure?.consecutiveFailCount ?? 0) > 0;
  return printableStatus({
    vm: { ...vm, status: { ...vm.status, ...(startFailure === undefined ? {} : { startFailure }) } },
    vmi,
    claimUnbound,
    creationExpected: vmi === undefined && (intent === 'run' || intent === 'restart') && !backingOff,
    deletionExpected: vmi !== undefined && ends,
  });
};
