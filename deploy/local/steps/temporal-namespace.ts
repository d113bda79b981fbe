import { join } from 'node:path';
import { clusterEnv } from '../commands/env.ts';
import type { Step } from '../context.ts';
import { run } from '../shell.ts';

/** The same command that a user runs against a Temporal server of their own. */
export const temporalNamespace: Step = {
  title: 'Register namespace and search attributes with Temporal: virtflow temporal setup',
  run: async (ctx) => {
    const command = [process.execPath, '--no-warnings', join(ctx.root, 'cli/main.ts'), 'temporal', 'setup'];
    await run(command, { env: clusterEnv(ctx), onLine: ctx.report });
  },
  remedy: 'see whether ./dev status says that temporal is up, then run this again',
};
