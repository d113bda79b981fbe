import type { EntityStatus } from '../../../../api/contract/entities.ts';
import type { FailureInfo, FailureType } from '../../../../api/contract/failures.ts';
import { isFailureType } from '../../../../api/contract/failures.ts';
import { NODE_UNRESPONSIVE } from '../../../../api/contract/nodes.ts';
import type { OperationStatus } from '../../../../api/contract/operations.ts';
import type { Triggered, TriggerEffect, TriggerProgress } from '../../../../api/contract/triggers.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../../../api/kubevirt/types.ts';
import { isStopping, requestsOf, strategyOf } from '../../../../api/subresources/lifecycle.ts';
import { instanceFacts, isFinal } from '../../../facts/instance.ts';
import type { Condition } from '../../conditions.ts';

/** What is there, live. */
export interface Seen {
  vm: VirtualMachine | undefined;
  /** The instance of the VM's name. */
  vmi: VirtualMachineInstance | undefined;
  /** The VMIM that the trigger has created. */
  migration?: VirtualMachineInstanceMigration | undefined;
  /** The operation that was retried, as it tells. */
  operation?: OperationStatus | undefined;
  /** The operation of the instance that failed last and was not retried. */
  failed?: EntityStatus['failedOperation'];
  /** RFC 3339. */
  at: string;
}

/** Whether what a trigger has asked for has come about, cannot come about any more, or is still on its way, and then what it waits for. Pure. */
export const progressOf = (trigger: Triggered, effect: TriggerEffect, seen: Seen): TriggerProgress => {
  if (effect.vmim !== undefined) return migrated(seen);
  switch (trigger.action) {
    case 'start':
    case 'restart':
      return started(trigger, seen);
    case 'stop':
      return stopped(trigger, seen);
    case 'migrate':
    case 'retry':
      return retried(effect, seen);
  }
};

const failed = (type: FailureType, message: string): TriggerProgress => ({
  ...{ state: 'failed', failure: { type, message } },
});
const underWay = (trouble?: FailureInfo): TriggerProgress => ({
  ...{ state: 'underWay' },
  ...(trouble === undefined ? {} : { trouble }),
});

/** How long the VM may say that no instance can be created before that is the end of it: it may pass in a moment. */
const UNCREATABLE_MS = 60_000;

const started = ({ action, instance }: Triggered, { vm, vmi, failed: operation, at }: Seen): TriggerProgress => {
  if (vm === undefined || vm.metadata?.deletionTimestamp !== undefined)
    return failed('ObjectGone', 'the VM is being deleted.');
  const strategy = strategyOf(vm);
  const uid = vmi?.metadata?.uid ?? '';
  const ends = vmi !== undefined && isStopping(vm, vmi, strategy);
  if (action === 'restart' && uid === instance && !ends && !isFinal(vmi?.status?.phase))
    return failed('Cancelled', `instance ${uid} runs on: another request has taken the place of the restart.`);
  const isNext = vmi !== undefined && !ends && !(action === 'restart' && uid === instance);
  if (isNext) return running(vmi, operation);
  const isAsked = strategy === 'Always' || requestsOf(vm).some((request) => request.action === 'Start');
  if (!isAsked) return failed('Cancelled', notAsked(vm, strategy));
  if (vmi !== undefined) return underWay(obstacleOf(vmi));
  const {
    consecutiveFailCount: count = 0,
    lastFailedVMIUID: last = '',
    retryAfterTimestamp: retryAt = '',
  } = vm.status?.startFailure ?? {};
  if (count > 0 && last !== instance)
    return failed('PodFailed', `instance ${last} ended without having run; the next try is at ${retryAt}.`);
  return uncreatable(vm, at) ?? underWay(failureOf(vm));
};

const running = (vmi: VirtualMachineInstance, operation: Seen['failed']): TriggerProgress => {
  const { uid: instance = '' } = vmi.metadata ?? {};
  const { phase = '', reason = 'it does not say why', nodeName: node } = vmi.status ?? {};
  const on = node === undefined ? {} : { node };
  if (phase === 'Running')
    return { ...{ state: 'succeeded', message: `instance ${instance} runs on ${node}`, instance }, ...on };
  if (isFinal(phase)) {
    if (instanceFacts(vmi).ran === true || phase === 'Succeeded')
      return { state: 'succeeded', message: `instance ${instance} ran and has ended again (${reason})`, instance };
    return failed('PodFailed', `instance ${instance} ended without having run: ${reason}.`);
  }
  return operation === undefined ? underWay(obstacleOf(vmi)) : { state: 'failed', failure: operation.failure };
};

const notAsked = (vm: VirtualMachine, strategy: string): string =>
  strategy === 'Halted'
    ? 'the VM was halted later.'
    : `the request is off the list, and no instance runs: ${failureOf(vm)?.message ?? "see the VM's events."}`;

const stopped = ({ instance }: Triggered, { vm, vmi, failed: operation }: Seen): TriggerProgress => {
  if (vm === undefined) return { state: 'succeeded', message: 'the VM is gone' };
  const strategy = strategyOf(vm);
  const uid = vmi?.metadata?.uid ?? '';
  if (strategy === 'Always' || strategy === 'Once')
    return failed('Cancelled', `spec.runStrategy was set to ${strategy} later.`);
  if (vmi === undefined || isFinal(vmi.status?.phase)) return { state: 'succeeded', message: 'the VM is stopped' };
  if (uid !== instance && strategy !== 'Halted')
    return { state: 'succeeded', message: `instance ${instance} has ended; ${uid} came after it` };
  if (!isStopping(vm, vmi, strategy))
    return failed('Cancelled', `instance ${uid} runs on: another request has taken the place of the stop.`);
  return operation?.id.startsWith('vmi-shutdown/') === true
    ? { state: 'failed', failure: operation.failure }
    : underWay(obstacleOf(vmi));
};

const migrated = ({ migration, vmi }: Seen): TriggerProgress => {
  if (migration === undefined) return failed('Cancelled', 'its VirtualMachineInstanceMigration was deleted.');
  const { name = '' } = migration.metadata ?? {};
  const { phase = '', conditions = [] } = migration.status ?? {};
  const told = (type: string): FailureInfo | undefined => toldBy(conditions, type, 'True');
  switch (phase) {
    case 'Succeeded': {
      const node = vmi?.status?.nodeName;
      const on = node === undefined ? {} : { node };
      return { state: 'succeeded', message: `${name} succeeded: the guest runs on ${node ?? 'another node'}`, ...on };
    }
    case 'Failed':
      return {
        ...{ state: 'failed' },
        failure: told('Failure') ?? { type: 'MigrationFailed', message: `${name} failed.` },
      };
    default:
      return underWay(told('MigrationOutcomeUnknown') ?? told('Waiting'));
  }
};

/** Phases in which an operation is over. */
const OVER = ['Done', 'Succeeded', 'Failed', 'Cancelled'];

const retried = ({ retried: id = '' }: TriggerEffect, { operation }: Seen): TriggerProgress => {
  if (operation === undefined || !OVER.includes(operation.phase)) return underWay();
  const { failure } = operation;
  return failure === undefined ? { state: 'succeeded', message: `${id} is done` } : { state: 'failed', failure };
};

const toldBy = (conditions: readonly Condition[], type: string, status: string): FailureInfo | undefined => {
  const { reason = '', message = '' } = conditions.find((one) => one.type === type && one.status === status) ?? {};
  if (reason === '' && message === '') return undefined;
  return { type: isFailureType(reason) ? reason : 'Unknown', message: message || reason };
};

/** What an instance waits for on its way up or down. */
const obstacleOf = ({ status }: VirtualMachineInstance): FailureInfo | undefined => {
  const conditions = status?.conditions ?? [];
  return (
    toldBy(conditions, 'Synchronized', 'False') ??
    toldBy(conditions, NODE_UNRESPONSIVE, 'True') ??
    toldBy(conditions, 'PodScheduled', 'False') ??
    toldBy(conditions, 'Provisioning', 'True')
  );
};

const failureOf = ({ status }: VirtualMachine): FailureInfo | undefined =>
  toldBy(status?.conditions ?? [], 'Failure', 'True');

/** The VM has been saying for a while that it gets no instance. */
const uncreatable = (vm: VirtualMachine, at: string): TriggerProgress | undefined => {
  const failure = failureOf(vm);
  const conditions: Condition[] = vm.status?.conditions ?? [];
  const since = conditions.find(({ type }) => type === 'Failure')?.lastTransitionTime;
  if (failure === undefined || since == null) return undefined;
  return Date.parse(at) - Date.parse(since) >= UNCREATABLE_MS ? { state: 'failed', failure } : undefined;
};
