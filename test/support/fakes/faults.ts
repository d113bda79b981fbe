import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

/**
 * What happens to the n-th activity of a workflow. `before`, `after`: its first execution fails before or after its effect. `round`: all its
 * server-side attempts fail, so that the step's own back-off begins. `forGood`: it fails and says that trying again is useless. `twice`: it runs twice.
 * `meanwhile`: something happens while it runs.
 */
export type Fault = {
  at: number;
  /** Counts only activities of this type: for workflows that do things at the same time. */
  of?: string;
} & ({ kind: 'before' | 'after' | 'round' | 'forGood' | 'twice' } | { kind: 'meanwhile'; run: () => Promise<unknown> });

type Activity = (input: never) => Promise<unknown>;

/** Wraps activities so that faults happen to them; `fault` is read at each call. All that one injector wraps are counted together. */
export const faultInjector = (fault: () => Fault | undefined): (<T extends object>(activities: T) => T) => {
  const seen: string[] = [];
  /** Runs whose last activity failed in the workflow's worker: what comes next of that type is the same one from the queue. */
  const failedHere = new Map<string, string>();
  const count = (of: string | undefined): number => {
    const { workflowExecution, activityId, activityType, isLocal } = activityInfo();
    if (of !== undefined && of !== activityType) return -1;
    const own = `${workflowExecution?.runId ?? ''}/${of ?? ''}/`;
    const key = `${own}${isLocal ? 'here' : 'queued'}/${activityId}`;
    const again = failedHere.get(own + activityType);
    if (!isLocal && again !== undefined && !seen.includes(key)) seen[seen.indexOf(again)] = key;
    if (!seen.includes(key)) seen.push(key);
    if (isLocal) failedHere.set(own + activityType, key);
    return seen.filter((other) => other.startsWith(own)).indexOf(key);
  };
  const inject =
    (run: Activity): Activity =>
    async (input) => {
      const hit = fault();
      if (hit === undefined || hit.at !== count(hit.of)) return run(input);
      const first = activityInfo().attempt === 1;
      switch (hit.kind) {
        case 'before':
          if (first) throw new Error('the request was lost');
          return run(input);
        case 'after': {
          const value = await run(input);
          if (first) throw new Error('the answer was lost');
          return value;
        }
        case 'round':
          throw new Error('nobody is there');
        case 'forGood':
          throw ApplicationFailure.nonRetryable('refused for good', 'Forbidden');
        case 'twice':
          await run(input);
          return run(input);
        case 'meanwhile':
          if (first) await hit.run();
          return run(input);
      }
    };
  return <T extends object>(activities: T): T =>
    Object.fromEntries(Object.entries(activities).map(([name, run]) => [name, inject(run as Activity)])) as T;
};
