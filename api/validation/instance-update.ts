import { compareQuantities } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { invalid, unsupported, when } from './cause.ts';
import { reservedLabels } from './metadata.ts';
import type { Requester } from './requester.ts';
import { USER } from './requester.ts';

/** Every reason to refuse a change of a VMI: users change its VM; the system itself changes what a running guest can take. */
export const validateInstanceUpdate = (
  vmi: VirtualMachineInstance,
  old: VirtualMachineInstance,
  { isSystem }: Requester = USER,
): Cause[] => {
  const labels = [vmi, old].map(({ metadata }) => sorted(reservedLabels(metadata?.labels)));
  const changes = sorted(vmi.spec) !== sorted(old.spec);
  return [
    ...when(changes && !isSystem, () =>
      unsupported('spec', 'the spec of a VMI stands: change its VM, or delete the VMI and create it anew'),
    ),
    ...when(labels[0] !== labels[1] && !isSystem, () =>
      unsupported('metadata.labels', 'reserved labels of kubevirt.io are written by the system itself'),
    ),
    ...(changes && isSystem ? fixedBounds(vmi, old) : []),
  ];
};

/** What a guest was started with bounds what it can take. */
const fixedBounds = ({ spec }: VirtualMachineInstance, { spec: old }: VirtualMachineInstance): Cause[] => {
  const [now, before] = [spec.domain.memory?.maxGuest, old.domain.memory?.maxGuest];
  return [
    ...when(spec.domain.cpu?.maxSockets !== old.domain.cpu?.maxSockets, () =>
      invalid('spec.domain.cpu.maxSockets', 'it stands while the guest runs'),
    ),
    ...when(now !== undefined && before !== undefined && compareQuantities(now, before) !== 0, () =>
      invalid('spec.domain.memory.maxGuest', 'it stands while the guest runs'),
    ),
  ];
};

/** JSON with sorted keys: equal for equal objects. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
