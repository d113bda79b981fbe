import type { InstanceFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { isRetryable, toFailureInfo } from '../shared/failures.ts';
import { bookkeeping, controllerActivities } from '../shared/proxies.ts';
import type { ActingCommand, VirtualMachineEvent } from './state.ts';

/** Carries out what the entity of a VM does for it; its end is an event. */
export const perform = async (vm: ObjectRef, command: ActingCommand): Promise<VirtualMachineEvent> => {
  try {
    return await carryOut(vm, command);
  } catch (error) {
    const failure = toFailureInfo(error);
    if (failure.type === 'ObjectGone' && command.type === 'adopt') return { type: 'vmGone' };
    return { type: 'refused', command: command.type, failure, retryable: isRetryable(error, failure) };
  }
};

const carryOut = async (vm: ObjectRef, command: ActingCommand): Promise<VirtualMachineEvent> => {
  switch (command.type) {
    case 'adopt':
      return read(await bookkeeping('Adopt').adoptVirtualMachine(vm));
    case 'create': {
      const { paused } = command;
      const request = { vm, ...(paused === undefined ? {} : { paused }) };
      return { type: 'created', instance: await controllerActivities('Create instance').createInstance(request) };
    }
    case 'delete': {
      const { instance: vmi, gracePeriodSeconds } = command;
      const request = { vm, vmi, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) };
      return { type: 'deleted', instance: await controllerActivities('Delete instance').deleteInstance(request) };
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
