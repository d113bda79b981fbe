import { afterAll, expect, test } from '@jest/globals';
import { instanceId, virtualMachineId } from '../../api/contract/refs.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';
import { until } from '../support/until.ts';

// No workflow is kept in memory: each task replays all that happened so far.
const lab = await newLab({ maxCachedWorkflows: 0 });
afterAll(() => lab.close());

/** Start, guest's own end, restart, deletion. Returns what the last run of each entity was continued from. */
const life = async (): Promise<(string | undefined)[]> => {
  const { fake, tell, entity, vm } = await newVm(lab);
  const first = await untilRunning(lab);
  await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'guestShutdown');
  const second = await untilRunning(lab, first.uid);
  fake.requests = [{ action: 'Stop', uid: second.uid }, { action: 'Start' }];
  await tell();
  const third = await untilRunning(lab, second.uid);
  await until('both requests are settled', () => fake.requests.length === 0);
  await tell({ deleting: true });
  await entity.result();
  expect(fake.released).toBe(true);
  expect([lab.world.pods.size, lab.world.vmis.size, lab.world.violations]).toEqual([0, 0, []]);
  return Promise.all([virtualMachineId(vm), instanceId(third)].map(continuedFrom));
};

const continuedFrom = async (workflowId: string): Promise<string | undefined> => {
  const { events } = await lab.env.client.workflow.getHandle(workflowId).fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
};

test('a whole life replays the same at every task', async () => {
  lab.reset();
  lab.tellEntities();
  expect((await life()).filter((runId) => runId)).toEqual([]);
});

test('a whole life over runs that continue as new, with operations under way', async () => {
  lab.reset();
  lab.continueAfter = 12;
  lab.tellEntities();
  expect((await life()).filter((runId) => runId)).toHaveLength(2);
});
