import type { ClusterConfig } from '../cluster-config/index.ts';
import type { InstanceTypes } from '../instancetypes/index.ts';
import { expanded, hasReferences } from '../instancetypes/index.ts';
import type { VirtualMachine } from '../kubevirt/types.ts';
import { readNewVirtualMachine } from '../validation/shape.ts';
import type { Status } from './status.ts';
import { badRequest, invalidFields } from './status.ts';

/** A VM, or why there is none. */
export type VmOrRefusal = { vm: VirtualMachine; refusal?: undefined } | { refusal: Status };

/** A VM as it would run, with what its instance type and preference stand for. Without them a VM is what it says. */
export const expandVirtualMachine = (vm: VirtualMachine, types: InstanceTypes, config: ClusterConfig): VmOrRefusal => {
  if (!hasReferences(vm)) return { vm };
  const { applied, causes } = expanded(vm, types, config);
  return applied === undefined
    ? { refusal: invalidFields('VM conflicts with its instance type or preference', causes, 400) }
    : { vm: applied };
};

/** A VM that need not exist, in the namespace of the request. */
export const readManifest = (object: unknown, namespace: string): VmOrRefusal => {
  const { object: vm, causes } = readNewVirtualMachine(object);
  if (vm === undefined) return { refusal: invalidFields('Object is not a valid VirtualMachine', causes, 400) };
  const own = vm.metadata?.namespace;
  if (own !== undefined && own !== '' && own !== namespace) {
    return { refusal: badRequest(`VM namespace must be empty or ${namespace}`) };
  }
  return { vm: { ...vm, metadata: { ...vm.metadata, namespace } } };
};
