import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { MigrationPolicy } from '../../api/migration-policy/index.ts';
import { UnreadableObject, parseInstance, parseMigrationPolicy, parseVirtualMachine } from '../../api/schemas/index.ts';
import { failure } from '../failures.ts';

/** The VMI, once every field that virtflow reads has its type. @throws InvalidSpec naming the fields that have not */
export const readableInstance = (vmi: VirtualMachineInstance): VirtualMachineInstance =>
  readable(() => parseInstance(vmi));

/** The VM, likewise. @throws InvalidSpec naming the fields */
export const readableVirtualMachine = (vm: VirtualMachine): VirtualMachine => readable(() => parseVirtualMachine(vm));

/** The policy, likewise. @throws InvalidSpec naming the fields */
export const readableMigrationPolicy = (policy: MigrationPolicy): MigrationPolicy =>
  readable(() => parseMigrationPolicy(policy));

const readable = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    throw failure('InvalidSpec', error.message, error);
  }
};
