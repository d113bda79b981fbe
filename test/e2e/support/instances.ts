import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { apply, getObject } from './kubectl.ts';
import { condition } from './vms.ts';

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
  until(
    `VMI ${namespace}/${name}: ${what}`,
    async () => {
      const vmi = await getObject<VirtualMachineInstance>('vmi', name, namespace);
      return vmi && holds(vmi) ? vmi : undefined;
    },
    { timeoutMs, everyMs: 500 },
  );

export const isAgentConnected = (vmi: VirtualMachineInstance): boolean =>
  vmi.status?.phase === 'Running' && condition(vmi, 'AgentConnected')?.status === 'True';
