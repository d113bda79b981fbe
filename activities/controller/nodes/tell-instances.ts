import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { NodeReport } from '../../../api/contract/nodes.ts';
import { nodeReported } from '../../../api/contract/nodes.ts';
import { instanceId } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { MIGRATION_TARGET_NODE_LABEL, NODE_NAME_LABEL } from '../../facts/labels.ts';
import { isUntold } from '../../facts/node-told.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';

/** Signals the entities of the node's instances, live read, that do not show yet what they are told. Nobody listening is success. */
export const tellInstances =
  ({ kube, workflows }: Pick<ControllerPorts, 'kube' | 'workflows'>): ControllerActivities['tellInstances'] =>
  async ({ report }) => {
    const untold = (await instancesOf(kube, report)).filter((vmi) => isUntold(vmi, report));
    const told = untold.map((vmi) => instanceId(refOf(vmi)));
    await Promise.all(told.map((workflowId) => workflows.signal(workflowId, nodeReported.name, [report])));
    return { told };
  };

/** A migration's target counts: what becomes of it is the migration's to find out. */
const instancesOf = async (kube: KubePort, { node }: NodeReport): Promise<VirtualMachineInstance[]> => {
  const labelled = await Promise.all(
    [NODE_NAME_LABEL, MIGRATION_TARGET_NODE_LABEL].map((label) =>
      kube.list('VirtualMachineInstance', { labelSelector: `${label}=${node}` }),
    ),
  );
  const byUid = new Map(labelled.flat().map((vmi) => [vmi.metadata?.uid, vmi]));
  return [...byUid.values()];
};
