import { quantityFloor } from '../../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Concern } from '../concern.ts';
import type { Bytes } from '../domain.ts';
import { ConversionError } from '../errors.ts';

const bytes = (field: string, quantity: string): Bytes => {
  const value = quantityFloor(quantity);
  if (value < 0) throw new ConversionError(field, `"${quantity}" is negative`);
  return { '@unit': 'b', '#text': value };
};

/** What the guest sees: spec.domain.memory.guest, else the request, else the limit. @throws ConversionError */
export function guestMemory(vmi: VirtualMachineInstance): string {
  const { memory, resources } = vmi.spec.domain;
  const quantity = memory?.guest ?? resources?.requests?.['memory'] ?? resources?.limits?.['memory'];
  if (quantity === undefined) throw new ConversionError('spec.domain.memory.guest', 'is required, for example 1Gi');
  return quantity;
}

/** Memory at boot, and how far it may grow while the guest runs. */
export const memory: Concern = (vmi) => {
  const { maxGuest } = vmi.spec.domain.memory ?? {};
  return {
    memory: bytes('spec.domain.memory.guest', guestMemory(vmi)),
    maxMemory: maxGuest === undefined ? undefined : { '@slots': 0, ...bytes('spec.domain.memory.maxGuest', maxGuest) },
  };
};
