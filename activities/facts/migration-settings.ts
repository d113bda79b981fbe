import type { AdmittedMigration } from '../../api/contract/migrations.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/types.ts';

/** KubeVirt's words for spec.priority; a migration without one comes last. */
const PRIORITIES = new Map([
  ['system-critical', 100],
  ['user-triggered', 50],
  ['system-maintenance', 20],
]);

/** Annotations of a VMIM by which its user changes how long the target Pod may take, and KubeVirt's defaults. */
const TIMEOUTS = {
  unschedulable: { annotation: 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds', seconds: 300 },
  pending: { annotation: 'kubevirt.io/migrationPendingPodTimeoutSeconds', seconds: 900 },
} as const;

const SECONDS = /^[1-9]\d{0,5}$/;

type Vmim = Pick<VirtualMachineInstanceMigration, 'metadata' | 'spec'>;

/** Place in the queue for a permit: higher goes first. */
export const priorityOf = ({ priority = '' }: { priority?: string }): number => PRIORITIES.get(priority) ?? 0;

/** How long the target Pod may be unschedulable, and pending for any other reason; seconds. */
export const timeoutsOf = ({ metadata }: Vmim): AdmittedMigration['timeouts'] => {
  const read = ({ annotation, seconds }: (typeof TIMEOUTS)[keyof typeof TIMEOUTS]): number => {
    const given = metadata?.annotations?.[annotation] ?? '';
    return SECONDS.test(given) ? Number(given) : seconds;
  };
  return { unschedulable: read(TIMEOUTS.unschedulable), pending: read(TIMEOUTS.pending) };
};

/** Which setting is a word that nobody knows; undefined: none. */
export const invalidSetting = ({ metadata, spec }: Vmim): string | undefined => {
  const { priority = '' } = spec;
  if (priority !== '' && !PRIORITIES.has(priority)) {
    return `spec.priority "${priority}" is unknown: use ${[...PRIORITIES.keys()].join(', ')}, or leave it out.`;
  }
  for (const { annotation } of Object.values(TIMEOUTS)) {
    const given = metadata?.annotations?.[annotation];
    if (given === undefined || SECONDS.test(given)) continue;
    return `metadata.annotations[${annotation}] "${given}" is no number of seconds from 1 to 999999.`;
  }
  return undefined;
};
