import type { ObjectRef } from '../../../../api/contract/refs.ts';
import type { LifecycleAction, Pair } from '../../../../api/subresources/lifecycle.ts';
import type { OptionsOf } from '../../../../api/subresources/options.ts';
import { readOptions } from '../../../../api/subresources/options.ts';
import { failure } from '../../../failures.ts';
import type { KubePort } from '../../../kube/port.ts';
import { readVirtualMachine } from '../read.ts';

/** Options of another service, looked at as those of a request to the API server. @throws Refused */
export const optionsOf = <A extends LifecycleAction>(action: A, given: object): OptionsOf<A> => {
  const read = readOptions(action, given);
  if (read.refusal !== undefined) throw failure('Refused', read.refusal.message);
  return read.options;
};

/** The VM and the instance of its name, live. @throws ObjectGone */
export const readPair = async (kube: KubePort, ref: ObjectRef): Promise<Pair> => {
  const [vm, vmi] = await Promise.all([readVirtualMachine(kube, ref), kube.get('VirtualMachineInstance', ref)]);
  return { vm, vmi };
};
