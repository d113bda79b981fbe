import { defaultKubeClient } from '../activities/kube/client.ts';
import type { KubePort } from '../activities/kube/port.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../api/kubevirt/types.ts';
import { explain, UserError } from './errors.ts';

/** Options that every command on a VM takes. */
export interface OnVirtualMachine {
  namespace: string;
}

interface Found {
  kube: KubePort;
  name: { namespace: string; name: string };
}

export interface Target extends Found {
  vm: VirtualMachine;
}

/** A VM, its instance, or both: an instance may stand alone. */
export interface Guest extends Found {
  vm?: VirtualMachine;
  vmi?: VirtualMachineInstance;
}

/** Reads the VM that a command is about. @throws UserError when there is none */
export async function findVirtualMachine(name: string, options: OnVirtualMachine): Promise<Target> {
  const { kube, vm, name: key } = await findGuest(name, options);
  if (vm) return { kube, vm, name: key };
  throw new UserError(
    `"${name}" is a VirtualMachineInstance without a VirtualMachine: it can only be deleted (kubectl delete vmi ${name}).`,
  );
}

/** Reads VM and instance of a name. @throws UserError when there is neither */
export async function findGuest(name: string, { namespace }: OnVirtualMachine): Promise<Guest> {
  const guest = await lookUp({ namespace, name });
  if (guest.vm ?? guest.vmi) return guest;
  throw new UserError(
    `there is no VirtualMachine or VirtualMachineInstance "${name}" in namespace "${namespace}" (kubectl get vm,vmi -A shows all).`,
  );
}

/** True if there is a VM or an instance of this name. */
export async function exists(name: Found['name']): Promise<boolean> {
  const { vm, vmi } = await lookUp(name);
  return (vm ?? vmi) !== undefined;
}

const lookUp = (name: Found['name']): Promise<Guest> =>
  talking(`reading ${name.namespace}/${name.name}`, async () => {
    const kube = defaultKubeClient();
    const [vm, vmi] = await Promise.all([kube.get('VirtualMachine', name), kube.get('VirtualMachineInstance', name)]);
    return { kube, name, ...(vm && { vm }), ...(vmi && { vmi }) };
  });

/** The VMI of a VM, if there is one. */
export const instanceOf = ({ kube, name }: Target): Promise<VirtualMachineInstance | undefined> =>
  talking(`reading VirtualMachineInstance ${name.namespace}/${name.name}`, () =>
    kube.get('VirtualMachineInstance', name),
  );

/** Runs `call` and explains what goes wrong in words for people. */
export async function talking<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw explain(error, doing);
  }
}

/** Effective run strategy of a VM. */
export function runStrategyOf(vm: VirtualMachine): string {
  if (vm.spec.runStrategy !== undefined) return vm.spec.runStrategy;
  return vm.spec.running === true ? 'Always' : 'Halted';
}
