import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { MIGRATION_SCHEDULER_ID, permitRequested, permitReturned } from '../../../api/contract/migrations.ts';
import type { PermitHolder } from '../../../api/contract/migrations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import { migrationId, migrationOf } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { migrationFacts } from '../../facts/migration.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { ControllerPorts } from '../ports.ts';
import { findMigration } from './read.ts';

/** Starts the scheduler if need be, and asks it. */
export const requestPermit =
  ({ workflows }: Pick<ControllerPorts, 'workflows'>): ControllerActivities['requestPermit'] =>
  (request) =>
    workflows.signalWithStart({
      workflow: WORKFLOWS.migrationScheduler,
      workflowId: MIGRATION_SCHEDULER_ID,
      args: [{}],
      signal: permitRequested.name,
      signalArgs: [request],
      summary: 'Permits of live migrations',
      againAfterCompletion: true,
    });

/** Tells the scheduler that the job is over. No scheduler: nothing is kept anywhere. */
export const returnPermit =
  ({ workflows }: Pick<ControllerPorts, 'workflows'>): ControllerActivities['returnPermit'] =>
  ({ holder }) =>
    workflows.signal(MIGRATION_SCHEDULER_ID, permitReturned.name, [{ holder }]);

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'workflows'>;

/** The limits in force, and what is known of holders: of those named, or of every VMIM that is past Pending and not final. */
export const observePermits =
  (ports: Ports): ControllerActivities['observePermits'] =>
  async ({ holders }) => {
    const { parallelMigrationsPerCluster, parallelOutboundMigrationsPerNode } = ports.config().migrations;
    return {
      limits: { perCluster: parallelMigrationsPerCluster, outboundPerNode: parallelOutboundMigrationsPerNode },
      holders:
        holders === undefined
          ? await allHolders(ports)
          : (await Promise.all(holders.map((holder) => named(ports, holder)))).flat(),
    };
  };

const allHolders = async ({ kube }: Pick<Ports, 'kube'>): Promise<PermitHolder[]> => {
  const isUnderWay = (vmim: VirtualMachineInstanceMigration): boolean => {
    const { phase } = migrationFacts(vmim);
    return phase !== '' && phase !== 'Pending' && !isFinal(phase);
  };
  const underWay = (await kube.list('VirtualMachineInstanceMigration')).filter(isUnderWay);
  return underWay.map((vmim) => ({
    holder: migrationId(refOf(vmim)),
    migration: refOf(vmim),
    sourceNode: sourceNodeOf(vmim),
    over: false,
  }));
};

/** Over only by two words at once: the object says that it is final (or gone), and Temporal that its workflow does not run. */
const named = async ({ kube, workflows }: Ports, holder: string): Promise<PermitHolder[]> => {
  const migration = migrationOf(holder);
  if (migration === undefined) return [];
  const vmim = await findMigration(kube, migration);
  const isUnfinished = vmim !== undefined && !isFinal(migrationFacts(vmim).phase);
  const over = !isUnfinished && !(await workflows.isRunning(holder));
  return [{ holder, migration, sourceNode: vmim === undefined ? '' : sourceNodeOf(vmim), over }];
};

const sourceNodeOf = ({ status }: VirtualMachineInstanceMigration): string => status?.migrationState?.sourceNode ?? '';
