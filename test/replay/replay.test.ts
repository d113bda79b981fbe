import { expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { bundleWorkflows } from '../support/temporal.ts';
import { load, names } from './histories.ts';

const workflowBundle = await bundleWorkflows();
const recorded = await names();

test.each(recorded)('%s replays', async (name) => {
  await Worker.runReplayHistory({ workflowBundle }, await load(name));
});

test('a history that the workflows cannot have written is refused, so the check bites', async () => {
  const other = await load('start-succeeded', (text) => text.replaceAll('"syncInstance"', '"syncNothing"'));
  await expect(Worker.runReplayHistory({ workflowBundle }, other)).rejects.toThrow(DeterminismViolationError);
});
