import type { WorkflowHandle } from '@temporalio/client';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { replicaSetId } from '../../api/contract/refs.ts';
import { replicaSetObserved } from '../../api/contract/replica-sets.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { until } from '../support/until.ts';
import type { Scenario } from './scenarios.ts';

const set = { namespace: 'shop', name: 'web', uid: 'replica-set' };

const tellOf = (lab: Lab) => (): Promise<WorkflowHandle> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.replicaSet, {
    ...{ workflowId: replicaSetId(set), taskQueue: CONTROLLER_QUEUE, args: [{ set }] },
    ...{ signal: replicaSetObserved, signalArgs: [] },
  });

/** A replica set is scaled up, refused once, paused, scaled down and deleted. */
export const replicaSets: Record<string, Scenario> = {
  replicasAreScaled: async (lab) => {
    const { replicaSet, manners } = lab.world;
    const tell = tellOf(lab);
    const last = () => replicaSet.reports.at(-1);
    const untilReplicas = async (count: number): Promise<void> => {
      replicaSet.view.wanted = count;
      await tell();
      await until(`${count} replicas`, () => last()?.replicas === count && last()?.failure === undefined);
    };
    await untilReplicas(2);
    manners.refuse['createReplicas'] = { type: 'Forbidden', message: 'a policy says no' };
    replicaSet.view.wanted = 3;
    await tell();
    await until('it is refused', () => last()?.failure !== undefined);
    delete manners.refuse['createReplicas'];
    await lab.env.sleep('2 minutes');
    replicaSet.view.paused = true;
    await tell();
    await until('it is paused', () => last()?.paused === true);
    replicaSet.view.paused = false;
    await untilReplicas(1);
    replicaSet.view.gone = true;
    const handle = await tell();
    await handle.result();
    return { 'replica-set': handle };
  },

  /** Its VMI ends at once, twice; then its spec is mended. */
  replicasEndAtOnce: async (lab) => {
    const { replicaSet } = lab.world;
    const tell = tellOf(lab);
    const last = () => replicaSet.reports.at(-1);
    const untilThere = (): Promise<unknown> => until('one is there', () => last()?.replicas === 1);
    replicaSet.view.wanted = 1;
    await tell();
    for (const failures of [1, 2]) {
      await untilThere();
      const endedAt = new Date(await lab.env.currentTimeMs()).toISOString();
      replicaSet.change(replicaSet.view.replicas[0]?.vmi.name ?? '', { standing: 'ended', endedAt });
      await tell();
      await until('the back-off is told', () => last()?.backOff?.failures === failures);
      if (failures === 1) await lab.env.sleep('20 seconds');
    }
    replicaSet.view.generation = 2;
    await tell();
    await untilThere();
    replicaSet.view.gone = true;
    const handle = await tell();
    await handle.result();
    return { 'replica-set-backing-off': handle };
  },
};
