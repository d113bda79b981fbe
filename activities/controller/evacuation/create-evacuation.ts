import { createHash } from 'node:crypto';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { DESCHEDULER, EVACUATION_ANNOTATION, EVICTION_SOURCE_ANNOTATION } from '../../../api/contract/evacuation.ts';
import type { NodeRef } from '../../../api/contract/nodes.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { MIGRATED_INSTANCE_LABEL } from '../../facts/labels.ts';
import { askedToLeave } from '../../facts/evacuation.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { findInstance } from '../instance/read.ts';
import { instanceLabel } from '../launch-manifest/names.ts';
import { byAge, unfinished } from '../migration/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';

const KIND = 'VirtualMachineInstanceMigration';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'log'>;

/** Creates the VMI's way out of the node, unless it has one or need not leave. Its name derives from what went before, so it is created once. */
export const createEvacuation =
  (ports: Ports): ControllerActivities['createEvacuation'] =>
  async ({ node: ref, vmi: vmiRef }) => {
    const { kube, config } = ports;
    const [node, vmi] = await Promise.all([kube.get('Node', { name: ref.name }), findInstance(kube, vmiRef)]);
    if (vmi === undefined || node?.metadata?.uid !== ref.uid) return undefined;
    if (askedToLeave(vmi, node, config()) === undefined) return undefined;
    const migrations = await labelledMigrations(kube, vmi);
    const underWay = unfinished(migrations);
    if (underWay !== undefined) return { migration: refOf(underWay).name };
    return { migration: await create(ports, evacuationMigration(vmi, ref, migrations.at(-1)?.metadata?.uid)) };
  };

/** Oldest first; by label, so that emptying a node of hundreds does not read all migrations for each of them. */
const labelledMigrations = async (
  kube: KubePort,
  vmi: VirtualMachineInstance,
): Promise<VirtualMachineInstanceMigration[]> => {
  const { namespace, name } = refOf(vmi);
  const labelSelector = `${MIGRATED_INSTANCE_LABEL}=${instanceLabel(vmi)}`;
  const found = await kube.list(KIND, { namespace, labelSelector });
  return found.filter((vmim) => migrationFacts(vmim).vmiName === name).sort(byAge);
};

const create = async (ports: Ports, vmim: VirtualMachineInstanceMigration): Promise<string> => {
  const { kube } = ports;
  const { namespace = '', name = '', ownerReferences: [owner] = [] } = vmim.metadata ?? {};
  const { name: vmiName = '', uid = '' } = owner ?? {};
  const of = { kind: 'VirtualMachineInstance', ref: { namespace, name: vmiName, uid } } as const;
  try {
    await kube.create(KIND, vmim);
  } catch (error) {
    // By this activity, before it was cut short.
    if (isAlreadyExists(error)) return name;
    const message = `Error creating a Migration: ${error instanceof Error ? error.message : String(error)}`;
    await recordEvent(ports, { ...of, reason: 'FailedCreate', message, isWarning: true });
    throw error;
  }
  await recordEvent(ports, { ...of, reason: 'SuccessfulCreate', message: `Created Migration ${name}` });
  return name;
};

/**
 * The VMIM that takes a VMI away from a node. Pure.
 * @param after uid of the VMI's newest migration, if it has any
 */
export const evacuationMigration = (
  vmi: VirtualMachineInstance,
  node: NodeRef,
  after = '',
): VirtualMachineInstanceMigration => {
  const { namespace, name, uid } = refOf(vmi);
  const which = createHash('sha256').update(`${uid}/${node.uid}/${after}`).digest('hex').slice(0, 12);
  const isOfNoHurry = vmi.metadata?.annotations?.[EVICTION_SOURCE_ANNOTATION] === DESCHEDULER;
  return {
    ...{ apiVersion: KUBEVIRT_API_VERSION, kind: KIND },
    metadata: {
      ...{ namespace, name: `kubevirt-evacuation-${which}` },
      annotations: { [EVACUATION_ANNOTATION]: node.name },
      labels: { [MIGRATED_INSTANCE_LABEL]: instanceLabel(vmi) },
      ownerReferences: [{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance', name, uid }],
    },
    spec: { vmiName: name, priority: isOfNoHurry ? 'system-maintenance' : 'system-critical' },
  };
};
