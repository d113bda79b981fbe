// Bundles the workflow code once, so that no worker does it at its start: node bundle-workflows.mjs ENTRY OUTPUT
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const [entry, output] = process.argv.slice(2);
const { code } = await bundleWorkflowCode({ workflowsPath: resolve(entry) });
writeFileSync(output, code);
