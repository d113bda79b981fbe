import { Listr, ListrLogger, PRESET_TIMER, ProcessOutput } from 'listr2';
import { createContext } from './context.ts';
import type { Step } from './context.ts';

/** A failed step, with what to try. */
export class StepFailed extends Error {
  constructor(step: Step, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`"${step.title}" failed:\n${reason}\n\nWhat to try: ${step.remedy}.`, { cause });
  }
}

/** Passes on at most one line per `interval` milliseconds, the first at once: a log is not flooded by progress. */
export function throttle(interval: number, now: () => number, report: (line: string) => void): (line: string) => void {
  let last = -Infinity;
  return (line) => {
    if (now() - last < interval) return;
    last = now();
    report(line);
  };
}

/** Runs the steps in order and shows them: on standard output, or plainly on standard error. @throws StepFailed at the first that fails */
export async function runSteps(steps: readonly Step[], shown: 'output' | 'error' = 'output'): Promise<void> {
  let failure: StepFailed | undefined;
  const interval = process.stdout.isTTY ? 100 : 10_000;
  const tasks = steps.map((step) => ({
    title: step.title,
    skip: async () => {
      const reason = await step.skip?.(createContext());
      if (reason === undefined) return false;
      return process.stdout.isTTY ? `${step.title}: ${reason}` : reason; // on a terminal it takes the title's place
    },
    task: async (_: unknown, task: { output: string }) => {
      const report = throttle(interval, Date.now, (line) => (task.output = line));
      await step.run(createContext(report)).catch((cause: unknown) => {
        failure = new StepFailed(step, cause);
        throw new Error('see below');
      });
    },
  }));
  const rendererOptions = { timer: PRESET_TIMER, showErrorMessage: false, collapseErrors: false };
  const logger = new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) });
  const list =
    shown === 'error'
      ? new Listr(tasks, { renderer: 'simple', rendererOptions: { timer: PRESET_TIMER, logger } })
      : new Listr(tasks, { rendererOptions, fallbackRendererOptions: { timer: PRESET_TIMER } });
  await list.run().catch((error: unknown) => {
    throw failure ?? error;
  });
}
