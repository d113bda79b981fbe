import type { Client } from '@temporalio/client';
import type { TriggerOperation } from './operation.ts';
import { operationOf } from './operation.ts';
import type { VirtualMachineName, VirtualMachineTriggers } from './virtual-machine.ts';
import { triggersOf } from './virtual-machine.ts';

export type { FailureInfo } from '../api/contract/failures.ts';
export type { OperationStatus, StepRecord } from '../api/contract/operations.ts';
export type { TriggerErrorCode } from './errors.ts';
export { TriggerError } from './errors.ts';
export type { TriggerOperation, TriggerOutcome } from './operation.ts';
export type { Asking, VirtualMachineName, VirtualMachineTriggers } from './virtual-machine.ts';

/** virtflow for other services: asks VMs for something through Temporal. See docs/triggers.md. */
export interface VirtflowClient {
  virtualMachine(vm: VirtualMachineName): VirtualMachineTriggers;
  /** An operation that was accepted earlier, by its id. */
  operation(id: string): TriggerOperation;
}

/**
 * @param client of @temporalio/client, in the namespace that virtflow's workers use
 * @param options.answerWithinMs how long acceptance, refusal or a status may take
 */
export const virtflowClient = (
  client: Client,
  { answerWithinMs = 10_000 }: { answerWithinMs?: number } = {},
): VirtflowClient => ({
  virtualMachine: (vm) => triggersOf(client, vm, answerWithinMs),
  operation: (id) => operationOf(client, id, answerWithinMs),
});
