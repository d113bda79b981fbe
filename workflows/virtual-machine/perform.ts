import type { VirtualMachineReport } from '../../api/contract/activities.ts';
import type { InstanceFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { isRetryable, toFailureInfo } from '../shared/failures.ts';
import { bookkeeping, controllerActivities, localActivities } from '../shared/proxies.ts';
import type { ActingCommand, VirtualMachineEvent } from './state.ts';

/** What the VM's status says once its instance is there, and who is told that it does. */
export interface Announcement {
  report: VirtualMachineReport;
  shown: (instance: InstanceFacts) => void;
}

/** Carries out what the entity of a VM does for it; its end is an event. */
export const perform = async (
  vm: ObjectRef,
  command: ActingCommand,
  announcement: Announcement,
): Promise<VirtualMachineEvent> => {
  try {
    return await carryOut(vm, command, announcement);
  } catch (error) {
    const failure = toFailureInfo(error);
    if (failure.type === 'ObjectGone' && command.type === 'adopt') return { type: 'vmGone' };
    return { type: 'refused', command: command.type, failure, retryable: isRetryable(error, failure) };
  }
};

const carryOut = async (
  vm: ObjectRef,
  command: ActingCommand,
  { report, shown }: Announcement,
): Promise<VirtualMachineEvent> => {
  switch (command.type) {
    case 'adopt':
      return read(await bookkeeping('Adopt').adoptVirtualMachine(vm));
    case 'create': {
      const { paused } = command;
      const request = { vm, report, ...(paused === undefined ? {} : { paused }) };
      const { isShown, ...instance } = await localActivities('Create instance').createInstance(request);
      if (isShown === true) shown(instance);
      return { type: 'created', instance };
    }
    case 'delete': {
      const { instance: vmi, gracePeriodSeconds } = command;
      const request = { vm, vmi, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) };
      return { type: 'deleted', instance: await localActivities('Delete instance').deleteInstance(request) };
    }
    case 'switchOn':
      return { type: 'changed', facts: await controllerActivities('Switch on').switchOn(vm) };
    case 'queueStart':
      return { type: 'changed', facts: await controllerActivities('Queue start').queueStart(vm) };
    case 'provision':
      return { type: 'provisioned', ...(await controllerActivities('DataVolumes').ensureDataVolumes(vm)) };
    case 'release':
      await bookkeeping('Release').releaseVirtualMachine(vm);
      return { type: 'released' };
  }
};

/** An activity's undefined arrives as null. */
const read = (instance: InstanceFacts | null | undefined): VirtualMachineEvent =>
  instance == null ? { type: 'instanceRead' } : { type: 'instanceRead', instance };
