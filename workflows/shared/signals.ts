import type { SignalDefinition } from '@temporalio/common';
import { CancellationScope, getExternalWorkflowHandle, isCancellation } from '@temporalio/workflow';

/** Tells another workflow, also when the sender is cancelled. Resolves to false if there is none under that id. */
export const tell = async <Args extends unknown[]>(
  workflowId: string,
  definition: SignalDefinition<Args>,
  ...args: Args
): Promise<boolean> => reaches(() => getExternalWorkflowHandle(workflowId).signal(definition, ...args));

/** Asks another workflow to cancel. Resolves to false if there is none under that id. */
export const cancel = async (workflowId: string): Promise<boolean> =>
  reaches(() => getExternalWorkflowHandle(workflowId).cancel());

/** The only failure the server answers here is that no such workflow is open. */
const reaches = async (send: () => Promise<void>): Promise<boolean> => {
  try {
    await CancellationScope.nonCancellable(send);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
};
