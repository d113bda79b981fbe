import type { ActivateInput, WorkflowInterceptorsFactory } from '@temporalio/workflow';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Temporal takes a request to cancel a workflow that has closed for done; the test server never answers it, and who waits for the answer waits for ever.
 * Here a request is answered with the next that its workflow hears, and what the server says of it is not heard.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const unanswered = new Set<number>();
  return {
    internals: [
      {
        activate: ({ activation, ...input }, next) => {
          const jobs = (activation.jobs ?? []).filter((job) => job.resolveRequestCancelExternalWorkflow == null);
          if (jobs.every((job) => job.queryWorkflow == null)) {
            jobs.push(...[...unanswered].map(answerTo));
            unanswered.clear();
          }
          activation.jobs = jobs;
          next({ activation, ...input });
        },
        concludeActivation: (input, next) => {
          for (const { requestCancelExternalWorkflowExecution: request } of input.commands)
            if (request?.seq != null) unanswered.add(request.seq);
          return next(input);
        },
      },
    ],
  };
};

/** The runtime reads `variant`, which the type of a plain job does not have. */
const answerTo = (seq: number): Job & { variant: keyof Job } => ({
  ...{ variant: 'resolveRequestCancelExternalWorkflow', resolveRequestCancelExternalWorkflow: { seq } },
});
