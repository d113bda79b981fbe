import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { OperationResult, OperationStatus } from '../../api/contract/operations.ts';
import { instanceId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVmi, outcome } from '../support/fakes/operations.ts';

const lab = await newLab({ workflows: 'test/support/fakes/always.workflows.ts' });
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

const run = async () => {
  const vmi = newVmi(lab);
  const workflowId = `permit/${vmi.uid}`;
  const args = [{ vmi, attempt: 1, entity: instanceId(vmi) }];
  const operation = await lab.env.client.workflow.start<() => Promise<OperationResult>>('withPermit', {
    ...{ workflowId, taskQueue: CONTROLLER_QUEUE, args: args as unknown as [] },
  });
  return { vmi, status: await outcome(operation) };
};

test('what a step must always clean up is cleaned up after success', async () => {
  const { vmi, status } = await run();
  expect(status.steps.map(({ name }) => name)).toEqual(['AcquirePermit', 'Use', 'Clean up AcquirePermit']);
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('and after a failure, which it does not hide', async () => {
  lab.world.manners.refuse['checkVolumes'] = { type: 'InvalidSpec', message: 'no' };
  const { vmi, status } = await run();
  expect((status as OperationStatus).failure).toEqual({ type: 'InvalidSpec', message: 'no' });
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('a clean-up that fails is recorded and leaves the outcome as it is', async () => {
  lab.world.manners.refuse['releaseToken'] = { type: 'Forbidden', message: 'not allowed' };
  const { status } = await run();
  expect((status as OperationStatus).failure).toBeUndefined();
  expect(status.steps.at(-1)).toMatchObject({
    name: 'Clean up AcquirePermit',
    state: 'failed',
    failure: { type: 'Forbidden' },
  });
});
