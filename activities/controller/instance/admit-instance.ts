import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import { VMI_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { causesAgainstStart, causesText } from '../../../api/validation/index.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import { including, setFinalizers } from '../finalizers.ts';
import type { ControllerPorts } from '../ports.ts';
import { onConflictAgain } from '../races.ts';
import { knownInstance } from './read.ts';

const remedy = (owner: { name: string } | undefined): string =>
  owner === undefined
    ? 'Delete the instance and create it corrected.'
    : `Correct VirtualMachine ${owner.name}, then run: virtflow restart ${owner.name}.`;

const hasFinalizer = ({ metadata }: VirtualMachineInstance): boolean =>
  metadata?.finalizers?.includes(VMI_FINALIZER) === true;

/** Puts the finalizer on the VMI and checks that its spec can work. @throws InvalidSpec naming each field, ObjectGone */
export const admitInstance =
  (ports: Pick<ControllerPorts, 'kube' | 'config' | 'cached'>): ControllerActivities['admitInstance'] =>
  async (ref) => {
    const { kube, config } = ports;
    const vmi = await onConflictAgain(async () => {
      const read = await knownInstance(ports, ref, hasFinalizer);
      // Finalizers cannot be added to what is being deleted.
      if (read.metadata?.deletionTimestamp !== undefined) return read;
      return setFinalizers(kube, 'VirtualMachineInstance', read, including(VMI_FINALIZER));
    });
    const causes = causesAgainstStart(withDefaults(readableInstance(vmi), config()), config());
    if (causes.length > 0) {
      throw failure(
        'InvalidSpec',
        `VirtualMachineInstance ${ref.namespace}/${ref.name} cannot work: ${causesText(causes)} ${remedy(instanceFacts(vmi).owner)}`,
      );
    }
    return instanceFacts(vmi);
  };
