import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { instanceId, virtualMachineId } from '../../api/contract/refs.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';

// With every history replayed at every task, a busy machine needs seconds for each.
const PATIENCE_MS = 90_000;
jest.setTimeout(4 * PATIENCE_MS);

let lab: Lab;
afterAll(() => lab.close());

/** Start, restart, deletion. Returns what the last run of each entity was continued from. */
const life = async (): Promise<(string | undefined)[]> => {
  const { fake, tell, entity, vm } = await newVm(lab);
  const first = await untilRunning(lab, undefined, PATIENCE_MS);
  fake.requests = [{ action: 'Stop', uid: first.uid }, { action: 'Start' }];
  await tell();
  const second = await untilRunning(lab, first.uid, PATIENCE_MS);
  await lab.until('both requests are settled', () => fake.requests.length === 0);
  await tell({ deleting: true });
  await entity.result();
  expect(fake.released).toBe(true);
  expect([lab.world.pods.size, lab.world.vmis.size, lab.world.violations]).toEqual([0, 0, []]);
  return Promise.all([virtualMachineId(vm), instanceId(second)].map(continuedFrom));
};

const continuedFrom = async (workflowId: string): Promise<string | undefined> => {
  const { events } = await lab.env.client.workflow.getHandle(workflowId).fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
};

describe('with one workflow kept in memory', () => {
  beforeAll(async () => {
    // Of none at all the SDK drops local activities that run.
    lab = await newLab({ maxCachedWorkflows: 1 });
  });
  beforeEach(() => {
    lab.reset();
    lab.tellEntities();
  });

  test('a whole life replays the same wherever it is taken up', async () => {
    expect((await life()).filter((runId) => runId)).toEqual([]);
  });
});

describe('with entities that continue as new often', () => {
  beforeAll(async () => {
    await lab.close();
    lab = await newLab();
    lab.continueAfter = 12;
    lab.tellEntities();
  });

  test('a whole life goes over from run to run, also with operations under way', async () => {
    expect((await life()).filter((runId) => runId)).toHaveLength(2);
  });
});
