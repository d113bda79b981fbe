import type { VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { InstanceFacts, VirtualMachineFacts } from '../../../api/contract/facts.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { virtualMachinePatch } from '../../../activities/controller/virtual-machine/vm-status.ts';

const DELETED = '2026-01-01T00:00:00Z';

/** printableStatus that the activity would publish for a VM and its instance as they are. */
export const printedStatus = (
  facts: VirtualMachineFacts,
  instance: InstanceFacts | undefined,
  report: VirtualMachineReport,
): string => {
  const { vm, generation, runStrategy, deleting, stateChangeRequests } = facts;
  const object: VirtualMachine = {
    metadata: { ...vm, generation, ...(deleting ? { deletionTimestamp: DELETED } : {}) },
    spec: { runStrategy, template: {} },
    status: { stateChangeRequests: stateChangeRequests.map((request) => ({ ...request })) },
  };
  const vmi = instance === undefined ? undefined : objectOf(instance);
  const patch = virtualMachinePatch(object, { vmi, claimUnbound: false }, report, DELETED);
  return (patch?.['status'] as { printableStatus: string }).printableStatus;
};

const objectOf = ({ vmi, phase, deleting, ready }: InstanceFacts): VirtualMachineInstance => ({
  metadata: { ...vmi, ...(deleting ? { deletionTimestamp: DELETED } : {}) },
  spec: { domain: { devices: {} } },
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
