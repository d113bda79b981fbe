import type { VirtualMachine } from '../kubevirt/types.ts';
import { readNewVirtualMachine } from '../validation/shape.ts';
import type { Status } from './status.ts';
import { badRequest, invalidFields, notImplemented } from './status.ts';

/** A VM as it would run, with what its instance type and preference stand for, or why that cannot be told. */
export type Expanded = { vm: VirtualMachine; refusal?: undefined } | { refusal: Status };

/** Without instance type and preference a VM is what it says; virtflow does not carry out the others yet. */
export const expandVirtualMachine = (vm: VirtualMachine): Expanded => {
  const field = (['instancetype', 'preference'] as const).find((name) => vm.spec[name] !== undefined);
  return field === undefined
    ? { vm }
    : { refusal: notImplemented(`spec.${field} is not supported yet: write what it stands for into spec.template`) };
};

/** The same for a VM that need not exist, in the namespace of the request. */
export const expandManifest = (object: unknown, namespace: string): Expanded => {
  const { object: vm, causes } = readNewVirtualMachine(object);
  if (vm === undefined) return { refusal: invalidFields('Object is not a valid VirtualMachine', causes, 400) };
  const own = vm.metadata?.namespace;
  if (own !== undefined && own !== '' && own !== namespace) {
    return { refusal: badRequest(`VM namespace must be empty or ${namespace}`) };
  }
  return expandVirtualMachine({ ...vm, metadata: { ...vm.metadata, namespace } });
};
