import type { DomainEnd, DomainReport, DomainState } from '../../api/launcher/reports.ts';
import { DomainState as Libvirt } from '../libvirt/types.ts';
import type { StateAndReason } from '../libvirt/types.ts';
import type { Moves } from '../migration/record.ts';
import type { Remembered } from './memory.ts';

/** What libvirt says of the domain; `absent`: it has no definition. */
export type Observation = StateAndReason | 'absent';

export interface Assessment {
  readonly state: DomainState;
  readonly reason?: string;
  readonly pausedBy?: NonNullable<DomainReport['pausedBy']>;
  readonly end?: DomainEnd;
}

type Known = Pick<
  Remembered,
  'started' | 'shutdownDeadline' | 'signalled' | 'wentDown' | 'unwatched' | 'destroying' | 'end'
> &
  Moves;

/** virDomainShutoffReason, in order of its numbers. */
const SHUTOFF = ['unknown', 'shutdown', 'destroyed', 'crashed', 'migrated', 'saved', 'failed', 'snapshot', 'daemon'];
/** virDomainPausedReason. */
const PAUSED = [
  'unknown',
  'by request',
  'migration',
  'save',
  'dump',
  'I/O error',
  'watchdog',
  'from snapshot',
  'shutting down',
  'snapshot',
  'crashed',
  'starting up',
  'post-copy',
  'post-copy failed',
];

const ACTIVE: readonly number[] = [
  Libvirt.running,
  Libvirt.blocked,
  Libvirt.paused,
  Libvirt.shutdown,
  Libvirt.crashed,
  Libvirt.pmSuspended,
];

/** True while a QEMU process stands behind the domain, running or not. */
export const isActive = (seen: Observation): boolean => seen !== 'absent' && ACTIVE.includes(seen.state);

/** True while the guest's CPUs run. */
export const isRunning = (seen: Observation): boolean =>
  seen !== 'absent' && (seen.state === Libvirt.running || seen.state === Libvirt.blocked);

/** libvirt starts QEMU with stopped CPUs: the start can still fail. */
const STARTING_UP = PAUSED.indexOf('starting up');
const isStarting = ({ state, reason }: StateAndReason): boolean => state === Libvirt.paused && reason === STARTING_UP;

/** True once the start has succeeded, while the domain lives. */
export const hasStarted = (seen: Observation): boolean => seen !== 'absent' && isActive(seen) && !isStarting(seen);

/**
 * What to report of what libvirt says, given what we know of the past. Pure; depends on the latest observation only, so that a lost event changes
 * nothing.
 */
export function assess(seen: Observation, known: Known): Assessment {
  if (known.incoming !== undefined) return isActive(seen) ? { state: 'incoming' } : { state: 'none' };
  // Only the migration knows whether the domain has ended or has gone elsewhere.
  if (known.leaving !== undefined && !isActive(seen)) return MOVING;
  if (seen === 'absent') return afterEnd('none', known, known.started ? 'unknown' : undefined);
  switch (seen.state) {
    case Libvirt.running:
    case Libvirt.blocked:
      return { state: known.shutdownDeadline === undefined ? 'running' : 'shuttingDown' };
    case Libvirt.paused:
      if (isStarting(seen)) return { state: 'starting' };
      return {
        state: 'paused',
        reason: `paused: ${PAUSED[seen.reason] ?? 'unknown'}`,
        ...pausedBy(PAUSED[seen.reason], known),
      };
    case Libvirt.pmSuspended:
      return { state: 'paused', reason: 'paused: suspended by the guest' };
    case Libvirt.shutdown:
      return { state: 'shuttingDown' };
    case Libvirt.crashed:
      return { state: 'crashed', reason: 'crashed: the guest panicked' };
    default:
      return assessShutoff(SHUTOFF[seen.reason] ?? 'unknown', known);
  }
}

const MOVING: Assessment = { state: 'paused', reason: 'paused: migration', pausedBy: 'migration' };

function pausedBy(reason: string | undefined, { pausedToConverge }: Known): Pick<Assessment, 'pausedBy'> {
  switch (reason) {
    case 'by request':
      return { pausedBy: pausedToConverge === true ? 'migration' : 'user' };
    case 'I/O error':
      return { pausedBy: 'ioError' };
    case 'migration':
    case 'post-copy':
    case 'post-copy failed':
      return { pausedBy: 'migration' };
    default:
      return {};
  }
}

function assessShutoff(reason: string, known: Known): Assessment {
  // A domain that was defined, or whose start failed, has not lived yet.
  if (!known.started && (reason === 'unknown' || reason === 'failed')) return { state: 'none' };
  const end = known.end ?? endOf(reason, known);
  return { ...afterEnd(end === 'crashed' ? 'crashed' : 'shutoff', known, end), reason: `shutoff: ${reason}` };
}

function afterEnd(state: DomainState, known: Known, otherwise: DomainEnd | undefined): Assessment {
  const end = known.end ?? otherwise;
  return end === undefined ? { state } : { state, end };
}

function endOf(reason: string, known: Known): DomainEnd {
  switch (reason) {
    case 'shutdown':
      return shutdownEnd(known);
    case 'destroyed':
      return known.destroying ?? 'killed';
    case 'crashed':
    case 'failed':
    case 'daemon':
      return known.destroying ?? (crashIsDoubtful(known) ? shutdownEnd(known) : 'crashed');
    default:
      return 'unknown';
  }
}

const shutdownEnd = ({ signalled }: Known): DomainEnd =>
  signalled === undefined ? 'guestShutdown' : `${signalled}Shutdown`;

/** A libvirtd that was killed during a shutdown finds QEMU gone when it is back, and calls that a crash. */
const crashIsDoubtful = ({ wentDown, signalled, unwatched }: Known): boolean =>
  wentDown === true || (signalled !== undefined && unwatched === true);

/** Exit code of the Pod's main container: a guest that ended by itself or on request is a success. */
export const exitCodeOf = (end: DomainEnd | undefined): number => (end === 'crashed' || end === 'unknown' ? 1 : 0);
