import { Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Change } from '../../shared/informer.ts';

/** KubeVirt's bounds for times of phases, in s. */
export const PHASE_BUCKETS = [0.5, 1, 2, 5, 10, 20, 30, 40, 50, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600];

export interface PhaseTransition {
  phase: string;
  lastPhase: string;
  /** Seconds. */
  fromCreation: number;
  fromLastPhase?: number;
  fromDeletion?: number;
}

/** A VMI or a VMIM. */
interface Phased {
  metadata?: { creationTimestamp?: string; deletionTimestamp?: string };
  status?: { phaseTransitionTimestamps?: { phase?: string; phaseTransitionTimestamp?: string }[] };
}

/** Phases that an object has entered between two versions of it. Nothing is told of one seen for the first time: its past is not ours. */
export const transitionsOf = ({ before, after }: Change<Phased>): PhaseTransition[] => {
  if (before === undefined || after === undefined) return [];
  const known = before.status?.phaseTransitionTimestamps?.length ?? 0;
  const times = after.status?.phaseTransitionTimestamps ?? [];
  const { creationTimestamp, deletionTimestamp } = after.metadata ?? {};
  return times.slice(known).map(({ phase = '', phaseTransitionTimestamp }, index) => {
    const previous = times[known + index - 1];
    const since = (start: string): number => (Date.parse(phaseTransitionTimestamp ?? '') - Date.parse(start)) / 1000;
    return {
      phase,
      lastPhase: previous?.phase ?? '',
      fromCreation: since(creationTimestamp ?? ''),
      ...(previous === undefined ? {} : { fromLastPhase: since(previous.phaseTransitionTimestamp ?? '') }),
      ...(deletionTimestamp === undefined ? {} : { fromDeletion: since(deletionTimestamp) }),
    };
  });
};

/** KubeVirt's metrics of phases, by name. */
export const phaseMetrics = (
  register: Registry,
  instances: () => VirtualMachineInstance[],
): ((change: Change<VirtualMachineInstance>) => void) => {
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> =>
    new Histogram({ name, help, labelNames, buckets: PHASE_BUCKETS, registers: [register] });
  const fromCreation = histogram(
    'kubevirt_vmi_phase_transition_time_from_creation_seconds',
    'Time from the creation of a VMI to its phases',
    ['phase'],
  );
  const between = histogram('kubevirt_vmi_phase_transition_time_seconds', 'Time between two phases of a VMI', [
    'phase',
    'last_phase',
  ]);
  const fromDeletion = histogram(
    'kubevirt_vmi_phase_transition_time_from_deletion_seconds',
    'Time from the deletion of a VMI to its phases',
    ['phase'],
  );
  new Gauge({
    name: 'kubevirt_vmi_phase_count',
    help: 'VMIs by phase and node',
    labelNames: ['phase', 'node'],
    registers: [register],
    collect() {
      this.reset();
      for (const { status } of instances()) {
        this.inc({ phase: (status?.phase ?? '').toLowerCase(), node: status?.nodeName ?? '' });
      }
    },
  });
  return (change) => {
    for (const entered of transitionsOf(change)) {
      fromCreation.observe({ phase: entered.phase }, Math.max(0, entered.fromCreation));
      if (entered.fromLastPhase !== undefined) {
        between.observe({ phase: entered.phase, last_phase: entered.lastPhase }, Math.max(0, entered.fromLastPhase));
      }
      if (entered.fromDeletion !== undefined && entered.fromDeletion >= 0) {
        fromDeletion.observe({ phase: entered.phase }, entered.fromDeletion);
      }
    }
  };
};
