import type { WorkflowHandle } from '@temporalio/client';
import type { EvacuationStatus } from '../../api/contract/evacuation.ts';
import { evacuationObserved, evacuationStatus } from '../../api/contract/evacuation.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { evacuationId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { NODE } from '../support/fakes/world.ts';
import { until } from '../support/until.ts';
import type { Scenario } from './scenarios.ts';

const begin = (lab: Lab, uid: string) => {
  const node = { name: NODE, uid };
  const tell = (): Promise<WorkflowHandle> =>
    lab.env.client.workflow.signalWithStart(WORKFLOWS.evacuateNode, {
      ...{ workflowId: evacuationId(node), taskQueue: CONTROLLER_QUEUE, args: [{ node }] },
      ...{ signal: evacuationObserved, signalArgs: [] },
    });
  const handle = lab.env.client.workflow.getHandle(evacuationId(node));
  const untilStandings = async (...wanted: string[]): Promise<void> => {
    await tell();
    await until(wanted.join(), async () => {
      const { leaving } = await handle.query<EvacuationStatus, []>(evacuationStatus);
      return leaving.map(({ standing }) => standing).join() === wanted.join();
    });
  };
  return { tell, handle, untilStandings };
};

/** Nodes are emptied: with a migration that fails once and one that is refused once, and with a change of mind. */
export const evacuations: Record<string, Scenario> = {
  nodeIsEmptied: async (lab) => {
    const { evacuation, manners } = lab.world;
    const { tell, handle, untilStandings } = begin(lab, 'emptied');
    const web = evacuation.ask('web');
    await untilStandings('moving');
    evacuation.fail(web, new Date(await lab.env.currentTimeMs()).toISOString());
    manners.refuse['createEvacuation'] = { type: 'Forbidden', message: 'a policy says no' };
    evacuation.ask('db');
    await untilStandings('backingOff', 'refused');
    delete manners.refuse['createEvacuation'];
    await lab.env.sleep('2 minutes');
    await untilStandings('moving', 'moving');
    evacuation.view.leaving = [];
    await tell();
    await handle.result();
    return { 'node-emptied': handle };
  },
  nodeIsUncordoned: async (lab) => {
    const { evacuation } = lab.world;
    const { tell, handle, untilStandings } = begin(lab, 'uncordoned');
    evacuation.ask('web');
    await untilStandings('moving');
    evacuation.view.cordoned = false;
    await tell();
    await handle.result();
    return { 'node-uncordoned': handle };
  },
};
