import type { WorkflowHandle } from '@temporalio/client';
import type { Fence, NodeFacts, NodeStatus } from '../../api/contract/nodes.ts';
import { nodeObserved, nodeStatus } from '../../api/contract/nodes.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { instanceId, nodeLifecycleId, shutdownId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newVmi } from '../support/fakes/operations.ts';
import { NODE } from '../support/fakes/world.ts';
import { until } from '../support/until.ts';
import type { Scenario } from './scenarios.ts';

const node = { name: NODE, uid: 'node-uid' };
const facts: NodeFacts = {
  ...{ node, bootId: 'b1', heartbeat: '2026-01-01T00:00:00Z', silent: false, schedulable: true },
};
const fence: Fence = { by: 'operator', nodeUid: node.uid, bootId: 'b1' };

const tell = (lab: Lab, told: Partial<NodeFacts>): Promise<WorkflowHandle> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.nodeLifecycle, {
    ...{ workflowId: nodeLifecycleId(node), taskQueue: CONTROLLER_QUEUE, args: [{ node }] },
    ...{ signal: nodeObserved, signalArgs: [{ ...facts, ...told }] },
  });
const untilStanding = (handle: WorkflowHandle, standing: string) =>
  until(standing, async () => (await handle.query<NodeStatus, []>(nodeStatus)).standing === standing);

/** Without `result`, during which time is skipped: whoever has nothing to wait for would come to the end of his time. */
const untilCompleted = (handle: WorkflowHandle) =>
  until('its end', async () => (await handle.describe()).status.name === 'COMPLETED');

/** A node is silent, fenced and deleted; the instance on it fails and is deleted. */
export const nodes: Record<string, Scenario> = {
  nodeIsLost: async (lab) => {
    lab.tellEntities();
    const { world } = lab;
    const vmi = newVmi(lab);
    const phase = (): string | undefined => world.vmis.get(vmi.uid)?.facts.phase;
    const created = world.vmis.get(vmi.uid)?.facts;
    if (created !== undefined) await world.tell({ kind: 'vmi', facts: created });
    await until('it runs', () => phase() === 'Running');
    const handle = await tell(lab, {});
    await untilStanding(handle, 'serving');
    await tell(lab, { silent: true });
    await untilStanding(handle, 'silent');
    world.nodes.switchOff(NODE);
    for (const activity of ['shutdownDomain', 'proveDomainGone'])
      world.manners.refuse[activity] = { type: 'LauncherUnreachable', message: 'off' };
    world.nodes.fence(NODE);
    await tell(lab, { silent: true, fence });
    await until('it is Failed', () => phase() === 'Failed');
    await until('nothing is left', () => world.leftovers(vmi).length === 0);
    await untilStanding(handle, 'fenced');
    world.nodes.deleted = { outcome: 'fenced', fence };
    await tell(lab, { gone: true });
    await untilCompleted(handle);
    const { runId } = await lab.env.client.workflow.getHandle(instanceId(vmi)).describe();
    const instance = lab.env.client.workflow.getHandle(instanceId(vmi), runId);
    await world.deleteVmi(vmi.uid);
    await untilCompleted(instance);
    return {
      'node-lost': handle,
      'instance-of-lost-node': instance,
      'shutdown-on-lost-node': lab.env.client.workflow.getHandle(shutdownId(vmi, 1)),
    };
  },
};
