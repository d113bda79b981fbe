import { binaryQuantity } from '../../../api/kubernetes/quantity.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { GuestOSInfo, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { interfaceStatuses } from './interfaces.ts';
import type { Surroundings } from './surroundings.ts';

/** What a running guest's status says of its domain and of what its agent tells. */
export const guestFields = (
  vmi: VirtualMachineInstance,
  { agent, hardware }: DomainReport,
  pod: Pod | undefined,
): Record<string, unknown> => ({
  interfaces: interfaceStatuses(vmi, { agent, ...(hardware === undefined ? {} : { hardware }) }, pod),
  ...(agent.os === undefined ? {} : { guestOSInfo: agent.os satisfies GuestOSInfo }),
  fsFreezeStatus: agent.fsFreezeStatus ?? null,
  ...(hardware?.machine === undefined ? {} : { machine: { type: hardware.machine } }),
  ...(hardware?.memoryBytes === undefined ? {} : { memory: { guestCurrent: binaryQuantity(hardware.memoryBytes) } }),
  ...(hardware?.selinuxContext === undefined ? {} : { selinuxContext: hardware.selinuxContext }),
});

/** What admission says of the guest's beginnings, if nothing says it: the guest may have grown since. */
export const beginningFields = (
  { status }: VirtualMachineInstance,
  beginnings: Surroundings['beginnings'] = {},
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(beginnings).filter(([field]) => status?.[field as keyof typeof beginnings] === undefined),
  );
