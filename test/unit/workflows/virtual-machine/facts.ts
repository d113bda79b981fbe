import type { InstanceFacts, VirtualMachineFacts } from '../../../../api/contract/facts.ts';
import { decide } from '../../../../workflows/virtual-machine/decide.ts';
import type {
  VirtualMachineCommand,
  VirtualMachineEvent,
  VirtualMachineState,
} from '../../../../workflows/virtual-machine/state.ts';
import { initialState } from '../../../../workflows/virtual-machine/state.ts';

export const vm = { namespace: 'default', name: 'vm-a', uid: 'v1' };
export const at = '2026-01-01T00:00:00.000Z';

export const machine = (change: Partial<VirtualMachineFacts> = {}): VirtualMachineFacts => ({
  ...{ vm, resourceVersion: '1', generation: 1, runStrategy: 'Always', deleting: false, finalizers: [] },
  ...{ stateChangeRequests: [], ...change },
});

export const instance = (uid: string, change: Partial<InstanceFacts> = {}): InstanceFacts => ({
  ...{ vmi: { ...vm, uid }, resourceVersion: '1', phase: 'Running', deleting: false, gracePeriodSeconds: 30 },
  ...{ finalizers: [], owner: { name: vm.name, uid: vm.uid }, ready: true, paused: false, ...change },
});

export const observed = (change: Partial<VirtualMachineFacts> = {}): VirtualMachineEvent => ({
  type: 'virtualMachineObserved',
  facts: machine(change),
});
export const read = (there?: InstanceFacts): VirtualMachineEvent =>
  there === undefined ? { type: 'instanceRead' } : { type: 'instanceRead', instance: there };
export const told = (facts: InstanceFacts): VirtualMachineEvent => ({ type: 'instanceObserved', facts });

export const after = (
  ...events: VirtualMachineEvent[]
): { state: VirtualMachineState; commands: VirtualMachineCommand[] } =>
  events.reduce<{ state: VirtualMachineState; commands: VirtualMachineCommand[] }>(
    ({ state }, event) => decide(state, event, at),
    { state: initialState(vm), commands: [] },
  );

export const types = (commands: VirtualMachineCommand[]): string[] => commands.map(({ type }) => type);
