import { Listr } from 'listr2';
import { createContext } from './context.ts';
import type { Context, Step } from './context.ts';

/** A failed step, with what to try. */
export class StepFailed extends Error {
  constructor(step: Step, cause: unknown) {
    super(
      `${step.title}: failed\n${cause instanceof Error ? cause.message : String(cause)}\n\nWhat to try: ${step.remedy}.`,
      {
        cause,
      },
    );
  }
}

/** Runs the steps in order and shows them. @throws StepFailed at the first that fails */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  const base = createContext();
  const tasks = steps.map((step) => ({
    title: step.title,
    skip: async () => (await step.skip?.(base)) ?? false,
    task: async (_: unknown, task: { output: string }) => {
      const ctx: Context = createContext((line) => (task.output = line));
      await step.run(ctx).catch((cause: unknown) => {
        throw new StepFailed(step, cause);
      });
    },
  }));
  await new Listr(tasks, { rendererOptions: { collapseSkips: true, collapseErrors: false } }).run();
}
