import type { WorkflowHandle } from '@temporalio/client';
import { instanceId, shutdownId, startId } from '../../api/contract/refs.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { cancelled, newVmi, outcome, runningVmi, shutdown, start, untilStep } from '../support/fakes/operations.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';
import { until } from '../support/until.ts';

/** A run whose histories are recorded: file name → workflow. Each ending of each workflow is there once. */
export type Scenario = (lab: Lab) => Promise<Record<string, WorkflowHandle>>;

const handle = (lab: Lab, id: string): WorkflowHandle => lab.env.client.workflow.getHandle(id);

const ended = async (name: string, operation: WorkflowHandle): Promise<Record<string, WorkflowHandle>> => {
  await outcome(operation);
  return { [name]: operation };
};

/** A bare VMI, from its creation to the end of its guest. */
const instance = async (lab: Lab, end: (vmi: ObjectRef, podUid: string) => Promise<void>): Promise<WorkflowHandle> => {
  lab.tellEntities();
  const vmi = newVmi(lab);
  const facts = () => lab.world.vmis.get(vmi.uid)?.facts;
  await lab.world.tell({ kind: 'vmi', facts: facts() ?? never() });
  await until('it runs', () => facts()?.phase === 'Running');
  await end(vmi, [...lab.world.pods.keys()][0] ?? '');
  return handle(lab, instanceId(vmi));
};

export const scenarios: Record<string, Scenario> = {
  startSucceeds: async (lab) => ended('start-succeeded', await start(lab, newVmi(lab))),
  startFails: async (lab) => {
    lab.world.manners.refuse['ensureLauncherPod'] = { type: 'Forbidden', message: 'violates PodSecurity "restricted"' };
    return ended('start-failed', await start(lab, newVmi(lab)));
  },
  startWaits: async (lab) => {
    lab.world.manners.refuse['checkVolumes'] = { type: 'VolumeNotFound', message: 'PVC default/disk does not exist' };
    const operation = await start(lab, newVmi(lab));
    await untilStep(operation, 'CheckVolumes', 'waiting');
    delete lab.world.manners.refuse['checkVolumes'];
    await operation.executeUpdate('retryNow');
    return ended('start-waited', operation);
  },
  startIsCancelled: async (lab) => {
    const vmi = newVmi(lab);
    lab.fault = { at: 4, kind: 'meanwhile', run: () => cancelled(lab, startId(vmi, 1)) };
    return ended('start-cancelled', await start(lab, vmi));
  },
  startIsHandedOver: async (lab) => {
    lab.world.manners.startsAs = 'starting';
    const operation = await start(lab, newVmi(lab));
    await untilStep(operation, 'AwaitRunning');
    await operation.cancel();
    return ended('start-handed-over', operation);
  },
  guestObeys: async (lab) => {
    const running = await runningVmi(lab);
    return ended('shutdown-obeyed', await shutdown(lab, running.vmi, running));
  },
  guestIsDestroyed: async (lab) => {
    lab.world.manners.guest = 'ignores';
    const running = await runningVmi(lab);
    return ended('shutdown-destroyed', await shutdown(lab, running.vmi, running));
  },
  nodeIsSilent: async (lab) => {
    const running = await runningVmi(lab);
    const pod = { ...running.pod, node: 'node-b' };
    return ended('shutdown-without-node-worker', await shutdown(lab, running.vmi, { ...running, pod }));
  },
  shutdownFails: async (lab) => {
    const running = await runningVmi(lab);
    lab.world.manners.refuse['releaseToken'] = { type: 'Forbidden', message: 'not allowed' };
    return ended('shutdown-failed', await shutdown(lab, running.vmi, running));
  },
  instanceIsDeleted: async (lab) => {
    const entity = await instance(lab, (vmi) => lab.world.deleteVmi(vmi.uid));
    await entity.result();
    return { 'instance-deleted': entity };
  },
  guestCrashes: async (lab) => {
    const entity = await instance(lab, async (vmi, podUid) => {
      await lab.world.endGuest(podUid, 'crashed');
      await until('it is Failed', () => lab.world.vmis.get(vmi.uid)?.facts.phase === 'Failed');
      await lab.world.deleteVmi(vmi.uid);
    });
    await entity.result();
    return { 'instance-crashed': entity };
  },
  operationIsTerminated: async (lab) => {
    lab.tellEntities();
    lab.world.manners.kubelet = 'slow';
    const vmi = newVmi(lab);
    const facts = () => lab.world.vmis.get(vmi.uid)?.facts;
    await lab.world.tell({ kind: 'vmi', facts: facts() ?? never() });
    await until('it is scheduled', () => facts()?.phase === 'Scheduling');
    lab.world.manners.kubelet = 'prompt';
    await handle(lab, startId(vmi, 1)).terminate();
    // As the sweep does; the parent may not hear of the end of a child that it does not ask.
    await lab.world.tell({ kind: 'vmi', facts: facts() ?? never() });
    await until('it runs', () => facts()?.phase === 'Running');
    await lab.world.deleteVmi(vmi.uid);
    await handle(lab, instanceId(vmi)).result();
    return {
      'instance-adopted': handle(lab, instanceId(vmi)),
      'shutdown-of-leftovers': handle(lab, shutdownId(vmi, 1)),
    };
  },
  machineIsRestarted: async (lab) => {
    lab.tellEntities();
    const { fake, tell, entity } = await newVm(lab);
    const first = await untilRunning(lab);
    fake.requests = [{ action: 'Stop', uid: first.uid }, { action: 'Start' }];
    await tell();
    await untilRunning(lab, first.uid);
    await until('both requests are settled', () => fake.requests.length === 0);
    await tell({ deleting: true });
    await entity.result();
    return { 'vm-restarted-and-deleted': entity };
  },
  machineReruns: async (lab) => {
    lab.tellEntities();
    const { fake, tell, entity } = await newVm(lab, { runStrategy: 'RerunOnFailure' });
    const first = await untilRunning(lab);
    await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'crashed');
    await untilRunning(lab, first.uid);
    await until('its own request is settled', () => fake.requests.length === 0);
    await tell({ deleting: true });
    await entity.result();
    return { 'vm-rerun': entity };
  },
  machineStartsPaused: async (lab) => {
    lab.tellEntities();
    const start = { action: 'Start', data: { paused: 'true' } };
    const { fake, tell, entity } = await newVm(lab, { runStrategy: 'Halted', stateChangeRequests: [start] });
    await untilRunning(lab);
    await until('its request is settled', () => fake.requests.length === 0);
    await tell({ deleting: true, orphans: true });
    await entity.result();
    return { 'vm-switched-on-and-orphaning': entity };
  },
};

const never = (): never => {
  throw new Error('the VMI is gone');
};
