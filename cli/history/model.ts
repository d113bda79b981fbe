import type { ReadOperation } from '../temporal/operations.ts';

/** One operation of a VM, open or closed, as the history shows it. */
export interface OperationView extends ReadOperation {
  workflowId: string;
  runId: string;
  /** As in the contract: start, shutdown, migrate. */
  operation: string;
  startedAt: string;
  endedAt?: string;
  /** Page of the operation in the Temporal UI, if its address is known. */
  link?: string;
}

export interface VmHistory {
  namespace: string;
  name: string;
  /** How far back closed operations can be seen, in days: the Temporal namespace's retention. */
  horizonDays?: number;
  operations: OperationView[];
}
