import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { evacuationCancelPatch } from '../../../api/subresources/patches.ts';
import { isNotFound, isTestFailed } from '../../kube/errors.ts';
import { findInstance } from '../instance/read.ts';
import { findMigration } from '../migration/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';
import { isRevocable } from './observe-evacuation.ts';

type Ports = Pick<ControllerPorts, 'kube'>;

/** What `evacuate/cancel` does for one VMI. */
export const withdrawEvacuation =
  ({ kube }: Ports): ControllerActivities['withdrawEvacuation'] =>
  async ({ node, vmi }) => {
    const found = await findInstance(kube, vmi);
    if (found?.status?.evacuationNodeName !== node.name) return;
    const isThis = { op: 'test', path: '/metadata/uid', value: vmi.uid };
    try {
      await kube.jsonPatch('VirtualMachineInstance', vmi, [isThis, ...evacuationCancelPatch(node.name)]);
    } catch (error) {
      // Gone, moved or asked for something else meanwhile.
      if (!isNotFound(error) && !isTestFailed(error)) throw error;
    }
  };

/** Deletes the VMIM, unless it has begun to copy the guest: what is nearly there is not thrown away. */
export const cancelEvacuation =
  ({ kube }: Ports): ControllerActivities['cancelEvacuation'] =>
  async ({ node, migration }) => {
    const vmim = await findMigration(kube, migration);
    if (vmim === undefined || !isRevocable(vmim, { metadata: { name: node.name } })) return;
    await kube.remove('VirtualMachineInstanceMigration', migration, { uid: migration.uid });
  };

/** KubeVirt's Event of a migration that is put off. */
export const tellBackoff =
  (ports: Pick<ControllerPorts, 'kube' | 'log'>): ControllerActivities['tellBackoff'] =>
  ({ vmi, failed, until }) =>
    recordEvent(ports, {
      ...{ kind: 'VirtualMachineInstance', ref: vmi, reason: 'MigrationBackoff', isWarning: true, once: failed },
      message: `backoff migrating vmi ${vmi.namespace}/${vmi.name}: after migration ${failed} failed the next one begins at ${until}`,
    });
