import type { Observation } from '../domain-manager/assess.ts';
import type { Remembered } from '../domain-manager/memory.ts';
import { DomainState } from '../libvirt/types.ts';
import { movesOf } from './record.ts';
import type { SourceRecord } from './record.ts';

/** virDomainPausedReason. */
const PAUSED_BY_REQUEST = 1;

/** Why the guest of a live domain must not be migrated now; undefined: it may. Pure. */
export function obstacleTo(
  seen: Exclude<Observation, 'absent'>,
  { migrations, shutdownDeadline }: Pick<Remembered, 'migrations' | 'shutdownDeadline'>,
): string | undefined {
  const { leaving, returning } = movesOf(migrations);
  if (leaving !== undefined) return `migration ${leaving} is under way`;
  // It is told to run on: that must not reach a QEMU which has given the guest away meanwhile.
  if (returning !== undefined) return `the guest is still being taken back from migration ${returning}`;
  if (shutdownDeadline !== undefined) return 'the guest is being shut down';
  switch (seen.state) {
    case DomainState.running:
    case DomainState.blocked:
      return undefined;
    case DomainState.paused:
      return seen.reason === PAUSED_BY_REQUEST ? undefined : 'the guest is paused, and not by a user';
    default:
      return 'the guest does not run';
  }
}

/** Of a migration that has not begun. */
export const blank: SourceRecord = {
  role: 'source',
  options: {
    completionTimeoutPerGiB: 0,
    progressTimeout: 0,
    allowAutoConverge: false,
    allowPostCopy: false,
    allowWorkloadDisruption: false,
    unsafe: false,
  },
  targetCpus: [],
  guestPaused: false,
  mode: 'PreCopy',
  switched: false,
  postCopy: false,
  settled: false,
};
