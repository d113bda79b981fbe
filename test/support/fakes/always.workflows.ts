import type { OperationInput, OperationResult } from '../../../api/contract/operations.ts';
import { operation } from '../../../workflows/operation/operation.ts';
import { controllerActivities } from '../../../workflows/shared/proxies.ts';

/** An operation with a step that must be cleaned up whatever happens, as a migration's permit; the start has none. */
export async function withPermit(input: OperationInput): Promise<OperationResult> {
  const { vmi, attempt } = input;
  return operation('start', input, async ({ step }) => {
    await step('AcquirePermit', {
      run: ({ summary }) => controllerActivities(summary).acquireToken({ vmi, attempt }),
      always: ({ summary }) => controllerActivities(summary).releaseToken({ vmi }),
    });
    await step('Use', { run: ({ summary }) => controllerActivities(summary).checkVolumes(vmi) });
  });
}
