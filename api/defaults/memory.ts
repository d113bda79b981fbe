import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import { isQuantity } from '../kubernetes/quantity.ts';
import { isNone } from './resources.ts';

/** The guest's memory: as given, else what is requested, else the limit, else one huge page. */
export const completeMemory = ({ domain }: VirtualMachineInstanceSpec): void => {
  const memory = (domain.memory ??= {});
  const { requests, limits } = domain.resources ?? {};
  const pageSize = memory.hugepages?.pageSize;
  const guest =
    memory.guest ??
    [requests?.['memory'], limits?.['memory']].find((quantity) => !isNone(quantity)) ??
    (pageSize !== undefined && isQuantity(pageSize) ? pageSize : undefined);
  if (guest !== undefined) memory.guest = guest;
};
