import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from '../../../api/kubevirt/types.ts';
import { apply, getObject } from './kubectl.ts';
import { untilObject } from './vms.ts';

export { isAgentConnected } from './vms.ts';

/** Applies a VirtualMachineInstance that no VM owns. */
export const applyInstance = (namespace: string, name: string, spec: VirtualMachineInstanceSpec): Promise<string> =>
  apply({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name, namespace }, spec });

/** Waits until `holds` of the VMI, and returns it. */
export const untilInstance = (
  what: string,
  namespace: string,
  name: string,
  holds: (vmi: VirtualMachineInstance) => boolean,
  timeoutMs = 240_000,
): Promise<VirtualMachineInstance> =>
  untilObject(
    `VMI ${namespace}/${name}: ${what}`,
    () => getObject<VirtualMachineInstance>('vmi', name, namespace),
    holds,
    timeoutMs,
  );
