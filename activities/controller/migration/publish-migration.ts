import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { MigrationReport } from '../../../api/contract/migrations.ts';
import { MIGRATION_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import { isFinal } from '../../facts/instance.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import { excluding, setFinalizers } from '../finalizers.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { migrationPatch } from './migration-status.ts';
import { findMigration } from './read.ts';
import { tidyMigrations } from './retention.ts';

const KIND = 'VirtualMachineInstanceMigration';

type Ports = Pick<ControllerPorts, 'kube' | 'clock' | 'log'>;

/**
 * Brings the VMIM's status to what its workflow reports; writes only what differs. A final one is let go, told as an Event, and makes room: only so
 * many of a VMI's migrations stay.
 */
export const publishMigration =
  (ports: Ports): ControllerActivities['publishMigration'] =>
  async (report) => {
    const written = await writeStatus(ports, report);
    if (!isFinal(report.phase)) return;
    await release(ports, report);
    if (written === undefined) return;
    await tellEnd(ports, report, written.vmiName);
    await tidyMigrations(ports.kube, report.migration.namespace, written.vmiName);
  };

/** What the VMIM is called for, if this made it enter another phase. */
const writeStatus = ({ kube, clock }: Ports, report: MigrationReport): Promise<{ vmiName: string } | undefined> =>
  onConflictAgain(async () => {
    const vmim = await findMigration(kube, report.migration);
    const patch = vmim === undefined ? undefined : migrationPatch(vmim, report, clock().toISOString());
    if (vmim === undefined || patch === undefined) return undefined;
    const { uid, resourceVersion } = vmim.metadata ?? {};
    const body = { ...patch, metadata: { uid, resourceVersion } };
    await ifStillThere(kube.mergePatch(KIND, report.migration, body, { subresource: 'status' }));
    const { phase, vmiName } = migrationFacts(vmim);
    return phase === report.phase ? undefined : { vmiName };
  });

/** One that is being deleted goes away with it. */
const release = ({ kube }: Ports, { migration }: MigrationReport): Promise<void> =>
  onConflictAgain(async () => {
    const vmim = await findMigration(kube, migration);
    if (vmim !== undefined) await ifStillThere(setFinalizers(kube, KIND, vmim, excluding(MIGRATION_FINALIZER)));
  });

const tellEnd = async (ports: Ports, report: MigrationReport, vmiName: string): Promise<void> => {
  const { migration, failure, target } = report;
  if (report.phase === 'Failed') {
    const message = `VirtualMachineInstance ${vmiName} was not migrated: ${failure?.message ?? 'no reason was given'}`;
    await recordEvent(ports, { kind: KIND, ref: migration, reason: 'FailedMigration', message, isWarning: true });
    return;
  }
  const message = `VirtualMachineInstance ${vmiName} was migrated to node ${target?.node ?? ''}`;
  await recordEvent(ports, { kind: KIND, ref: migration, reason: 'SuccessfulMigration', message });
  const vmi = await ports.kube.get('VirtualMachineInstance', { namespace: migration.namespace, name: vmiName });
  if (vmi === undefined) return;
  await recordEvent(ports, { kind: 'VirtualMachineInstance', ref: refOf(vmi), reason: 'Migrated', message });
};
