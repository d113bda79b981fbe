import { Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../../activities/facts/instance.ts';
import type { Change } from '../../shared/informer.ts';
import { PHASE_BUCKETS, transitionsOf } from './phases.ts';

const COUNTERS = ['unset', 'pending', 'scheduling', 'running'] as const;

/** Under which of KubeVirt's metrics a migration in this phase is counted (from Scheduled on it is a running one); undefined: it is over. */
export const countedAs = (phase: string): (typeof COUNTERS)[number] | undefined => {
  if (isFinal(phase)) return undefined;
  if (phase === '') return 'unset';
  return phase === 'Pending' ? 'pending' : phase === 'Scheduling' ? 'scheduling' : 'running';
};

const phaseOf = ({ status }: VirtualMachineInstanceMigration): string => status?.phase ?? '';

/** KubeVirt's metrics of migrations, by name. */
export const migrationMetrics = (
  register: Registry,
  migrations: () => VirtualMachineInstanceMigration[],
): ((change: Change<VirtualMachineInstanceMigration>) => void) => {
  const registers = [register];
  for (const counter of COUNTERS) {
    new Gauge({
      name: `kubevirt_vmi_migrations_in_${counter}_phase`,
      help: `Migrations in phase ${counter}`,
      registers,
      collect() {
        this.set(migrations().filter((vmim) => countedAs(phaseOf(vmim)) === counter).length);
      },
    });
  }
  for (const [outcome, phase] of [
    ['succeeded', 'Succeeded'],
    ['failed', 'Failed'],
  ] as const) {
    new Gauge({
      name: `kubevirt_vmi_migration_${outcome}`,
      help: `1 for each migration that ${outcome}, as long as its object exists`,
      labelNames: ['vmi', 'vmim', 'namespace'],
      registers,
      collect() {
        this.reset();
        for (const vmim of migrations().filter((one) => phaseOf(one) === phase)) {
          const { namespace = '', name = '' } = vmim.metadata ?? {};
          this.set({ vmi: vmim.spec.vmiName ?? '', vmim: name, namespace }, 1);
        }
      },
    });
  }
  const fromCreation = new Histogram({
    name: 'kubevirt_vmi_migration_phase_transition_time_from_creation_seconds',
    help: 'Time from the creation of a migration to its phases',
    labelNames: ['phase'],
    buckets: PHASE_BUCKETS,
    registers,
  });
  return (change) => {
    for (const { phase, fromCreation: seconds } of transitionsOf(change)) {
      fromCreation.observe({ phase }, Math.max(0, seconds));
    }
  };
};
