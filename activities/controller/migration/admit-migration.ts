import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { AdmittedMigration, MigrationFacts, OnMigration } from '../../../api/contract/migrations.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import { MIGRATION_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { migratability } from '../../../api/migratability/index.ts';
import { MIGRATED_INSTANCE_LABEL } from '../../facts/labels.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { priorityOf, timeoutsOf } from '../../facts/migration-settings.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { including } from '../finalizers.ts';
import { accessModes } from '../instance/surroundings.ts';
import { readClaims } from '../volumes/claims.ts';
import { findInstance } from '../instance/read.ts';
import { instanceLabel } from '../launch-manifest/names.ts';
import { mergePatchOf } from '../merge-patch.ts';
import type { ControllerPorts } from '../ports.ts';
import { onConflictAgain } from '../races.ts';
import { notRunning, olderUnfinished } from './obstacle.ts';
import { migrationOptions } from './options.ts';
import { policyFor } from './policy.ts';
import { migrationsOf, readMigration } from './read.ts';
import { noSecondNode, SCHEDULABLE_SELECTOR } from './second-node.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config'>;

/**
 * Checks that the VMI can be migrated now, works out how, and marks the VMIM as taken. One that is past Pending was admitted by an earlier run and is
 * not refused any more: whatever that run has left must be brought to an end.
 * @throws InvalidSpec, ObjectGone, NotMigratable, OperationUnderWay
 */
export const admitMigration =
  (ports: Ports): ControllerActivities['admitMigration'] =>
  async (request) => {
    const vmim = await readMigration(ports.kube, request.migration);
    const facts = migrationFacts(vmim);
    const vmi = request.vmi.uid === '' ? undefined : await findInstance(ports.kube, request.vmi);
    const isNew = facts.phase === '' || facts.phase === 'Pending';
    const isUnderWay = !isNew || facts.deleting;
    const policy = await policyFor(ports.kube, { namespace: request.vmi.namespace, vmi, isUnderWay });
    const answer = (now: MigrationFacts): AdmittedMigration => ({
      facts: now,
      options: migrationOptions(ports.config(), policy),
      priority: priorityOf(now),
      timeouts: timeoutsOf(vmim),
    });
    if (isUnderWay) return answer(facts);
    if (facts.invalid !== undefined) throw failure('InvalidSpec', facts.invalid);
    await refuse(ports, request, facts, vmi);
    return answer(await mark(ports.kube, request));
  };

/** @throws NotMigratable, OperationUnderWay, InvalidSpec */
const refuse = async (
  { kube, config }: Ports,
  { vmi: ref, migration }: OnMigration,
  { vmiName, addedNodeSelector }: MigrationFacts,
  vmi: VirtualMachineInstance | undefined,
): Promise<void> => {
  const name = `VirtualMachineInstance ${ref.namespace}/${vmiName}`;
  if (vmi === undefined || vmi.metadata?.name !== vmiName) {
    const state = ref.uid === '' ? 'did not exist when its migration began' : 'does not exist any more';
    throw failure('NotMigratable', `${name} ${state}. Start the VM, then migrate it again.`);
  }
  const cannot = (why: string) => failure('NotMigratable', `${name} cannot be migrated: ${why}.`);
  const state = notRunning(vmi);
  if (state !== undefined) throw cannot(state);
  const underWay = olderUnfinished(await migrationsOf(kube, ref.namespace, vmiName), migration.uid);
  if (underWay !== undefined) throw failure('OperationUnderWay', underWay.message);
  const nodes = await kube.list('Node', { labelSelector: SCHEDULABLE_SELECTOR });
  const source = nodes.find((node) => node.metadata?.name === vmi.status?.nodeName);
  const { live } = migratability(withDefaults(readableInstance(vmi), config()), {
    claims: accessModes(await readClaims(kube, vmi)),
    config: config(),
    ...(source === undefined ? {} : { nodeLabels: source.metadata?.labels ?? {} }),
  });
  if (live.status !== 'True') throw cannot(`${live.reason}: ${live.message}`);
  const lonely = noSecondNode(vmi, addedNodeSelector, config(), nodes);
  if (lonely !== undefined) throw cannot(lonely);
};

/** The finalizer, KubeVirt's label, and an owner with which the VMIM goes: in one write, if something of it is missing. */
const mark = (kube: KubePort, { vmi, migration }: OnMigration): Promise<MigrationFacts> =>
  onConflictAgain(async () => {
    const vmim = await readMigration(kube, migration);
    // Finalizers cannot be added to what is being deleted.
    if (vmim.metadata?.deletionTimestamp !== undefined) return migrationFacts(vmim);
    const { finalizers = [], ownerReferences = [], uid, resourceVersion } = vmim.metadata ?? {};
    const isOwned = ownerReferences.some((owner) => owner.uid === vmi.uid);
    const patch = mergePatchOf(vmim.metadata, {
      finalizers: including(MIGRATION_FINALIZER)(finalizers),
      labels: { [MIGRATED_INSTANCE_LABEL]: instanceLabel({ metadata: { name: vmi.name } }) },
      ownerReferences: isOwned ? ownerReferences : [...ownerReferences, ownedBy(vmi)],
    });
    if (patch === undefined) return migrationFacts(vmim);
    const metadata = { ...patch, uid, resourceVersion };
    return migrationFacts(await kube.mergePatch('VirtualMachineInstanceMigration', migration, { metadata }));
  });

/** Migrations of a VMI that is gone say nothing to anybody. */
const ownedBy = ({ name, uid }: ObjectRef): object => ({
  ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance', name, uid },
});
