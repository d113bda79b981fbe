import type { OperationStatus } from '../../api/contract/operations.ts';

/** One operation of a VM, open or closed, as the history shows it. */
export interface OperationView {
  workflowId: string;
  runId: string;
  operation: string;
  state: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'terminated' | 'timedOut';
  startedAt: string;
  endedAt?: string;
  /** Absent when the workflow ended without telling (terminated in the UI, for example) and cannot be asked any more. */
  status?: OperationStatus;
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
