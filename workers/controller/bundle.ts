import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

/** Where a Worker finds the workflow code: the bundle made with the image, else the sources, which it then bundles itself. */
export const workflowSource = (bundle: string | undefined): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> =>
  bundle === undefined
    ? { workflowsPath: fileURLToPath(import.meta.resolve('../../workflows/index.ts')) }
    : { workflowBundle: { codePath: bundle } };
