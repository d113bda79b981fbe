import type { MigrationOutcome } from '../../api/launcher/migration.ts';
import { isRunning } from '../domain-manager/assess.ts';
import type { Observation } from '../domain-manager/assess.ts';
import { DomainState } from '../libvirt/types.ts';
import type { SourceRecord } from './record.ts';

/** What is seen of the source once its migration is not under way any more, or seems so. */
export interface Evidence {
  readonly record: SourceRecord;
  /** A QEMU process runs in this Pod. */
  readonly qemu: boolean;
  /** libvirt's word; undefined while it does not answer. */
  readonly seen: Observation | undefined;
  /** A job is under way; undefined while libvirt does not answer. */
  readonly job: boolean | undefined;
  /** Somebody here ended QEMU. */
  readonly destroying: boolean;
  /** Why libvirt says that it failed, if it does. */
  readonly why?: string | undefined;
}

/** `wait`: look again. `again`: start anew with post-copy. */
export type Verdict = MigrationOutcome | 'wait' | 'again';

/** virDomainShutoffReason. */
const SHUTOFF_MIGRATED = 4;
/** virDomainPausedReason. */
const PAUSED_POST_COPY = 12;
const PAUSED_POST_COPY_FAILED = 13;

const isPaused = (seen: Observation | undefined, reason: number): boolean =>
  seen !== undefined && seen !== 'absent' && seen.state === DomainState.paused && seen.reason === reason;

/** How the migration ended for the source. Pure. */
export function verdictOf(evidence: Evidence): Verdict {
  const { record, qemu, seen, job } = evidence;
  if (!qemu) return withoutQemu(evidence);
  // libvirt goes on showing a job: QEMU may still bring it to its end.
  if (isPaused(seen, PAUSED_POST_COPY_FAILED)) return { kind: 'unknown', message: POST_COPY_FAILED };
  if (seen === undefined || job === undefined || job) return 'wait';
  // Runs it here, then the switch to post-copy was ordered but did not take place.
  if (isPaused(seen, PAUSED_POST_COPY) || (record.postCopy && !isRunning(seen)))
    return { kind: 'unknown', message: POST_COPY_FAILED };
  if (record.stop === 'timeout' && mayRestart(record)) return 'again';
  return { kind: 'sourceActive', cause: record.stop ?? 'failed', message: messageOf(evidence) };
}

const POST_COPY_FAILED =
  'the migration was lost after its switch to post-copy: the guest stands still here, its newest memory is in the target';

/**
 * After the guest's CPUs were stopped for the switch, libvirt ends QEMU only when the target has taken everything over; was it something else that
 * ended it, then the target holds all or nothing, and resumes only all. Before that an end of QEMU is the guest's own.
 */
function withoutQemu({ record, seen, destroying, why }: Evidence): Verdict {
  if (hasStopped(record) && !destroying) return { kind: 'sourceGone' };
  if (seen === undefined) return 'wait';
  const migrated = seen === 'absent' || (seen.state === DomainState.shutoff && seen.reason === SHUTOFF_MIGRATED);
  if (migrated) return { kind: 'sourceGone' };
  if (seen.state !== DomainState.shutoff) return 'wait';
  const message = `the guest ended before it was handed over${why === undefined ? '' : `: ${why}`}`;
  return { kind: 'sourceActive', cause: record.stop ?? 'failed', message };
}

const hasStopped = ({ switched, guestPaused, mode }: SourceRecord): boolean =>
  switched || guestPaused || mode === 'Paused';

export const mayRestart = ({ mode, options }: SourceRecord): boolean => mode === 'PreCopy' && options.allowPostCopy;

function messageOf({ record, why }: Evidence): string {
  switch (record.stop) {
    case 'aborted':
      return 'aborted on request';
    case 'timeout':
      return record.mode === 'Paused' ? 'not done in time, though the guest was paused' : 'did not converge in time';
    default:
      return why ?? 'interrupted: libvirt or the launcher was restarted meanwhile';
  }
}
