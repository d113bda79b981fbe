import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nodeObserved } from '../../api/contract/nodes.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { evacuationId, nodeLifecycleId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await newLab();
});
afterAll(() => lab.close());

test('time does not run on for years once the workflow has ended that was awaited', async () => {
  lab.reset().evacuation.view.cordoned = false;
  const before = await lab.env.currentTimeMs();
  const node = { name: 'in-use', uid: 'n2' };
  const handle = await lab.env.client.workflow.start(WORKFLOWS.evacuateNode, {
    ...{ workflowId: evacuationId(node), taskQueue: CONTROLLER_QUEUE, args: [{ node }] },
  });
  await handle.result();
  expect((await lab.env.currentTimeMs()) - before).toBeLessThan(365 * 24 * 3600_000);
});

test('time passes for the next test although a workflow was terminated with an activity in flight', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isInFlight = false;
  lab.reset().controller.closeNode = async () => {
    isInFlight = true;
    await held;
  };
  const node = { name: 'dead', uid: 'n1' };
  const facts = { node, bootId: 'b1', heartbeat: '2026-01-01T00:00:00Z', silent: true, schedulable: true };
  const handle = await lab.env.client.workflow.signalWithStart(WORKFLOWS.nodeLifecycle, {
    ...{ workflowId: nodeLifecycleId(node), taskQueue: CONTROLLER_QUEUE, args: [{ node }] },
    ...{ signal: nodeObserved, signalArgs: [facts] },
  });
  await lab.until('its activity runs', () => isInFlight);
  await handle.terminate('for the test');
  release();
  const before = await lab.env.currentTimeMs();
  await lab.env.sleep('1 day');
  expect((await lab.env.currentTimeMs()) - before).toBeGreaterThanOrEqual(24 * 3600_000);
});
