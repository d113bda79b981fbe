import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { condition, defineSignal, setHandler } from '@temporalio/workflow';

/** Lets an operation close. */
export const mayClose = defineSignal('mayClose');

/** Operations stay open after they have told their end until they may close, so that what can happen in between does happen. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let isAllowed = false;
  return {
    outbound: [
      {
        signalWorkflow: async (input, next) => {
          await next(input);
          if (input.signalName !== 'operationFinished') return;
          setHandler(mayClose, () => void (isAllowed = true));
          await condition(() => isAllowed);
        },
      },
    ],
  };
};
