import type { MigrationMode, MigrationOptions, MigrationProgress } from '../../api/launcher/migration.ts';

/** What the watch over a running migration remembers between two looks. */
export interface Watch {
  readonly lowestRemaining: number;
  /** When that was reached, in milliseconds since 1970. */
  readonly progressAt: number;
}

export interface Limits {
  readonly options: MigrationOptions;
  /** Memory and copied disks, in bytes. */
  readonly size: number;
}

/** What to do about a migration: `timeout` ends it, `restart` ends it to begin again with post-copy. */
export type Step = 'wait' | 'timeout' | 'restart' | 'pause' | 'switch';

const GIB = 1024 ** 3;
/** Time for a migration of next to nothing: a sum of seconds per GiB alone would be none. */
const SHORTEST_GIB = 1;
/** Passes over the memory after which post-copy only has to bring what was changed since. */
const FIRST_PASS = 2;

/** Milliseconds that a migration may take; a paused guest gets twice the time (KubeVirt). */
export const allowedMs = ({ options, size }: Limits, mode: MigrationMode): number =>
  options.completionTimeoutPerGiB * 1000 * Math.max(size / GIB, SHORTEST_GIB) * (mode === 'Paused' ? 2 : 1);

export const startWatch = (now: number): Watch => ({ lowestRemaining: Infinity, progressAt: now });

/**
 * Judges a look at a running migration, as KubeVirt does: no progress for too long ends it; when its time is over it is switched to post-copy, or its
 * guest is paused, or it ends, by what the options allow. A limit of 0 is none. Pure.
 */
export function judge(
  watch: Watch,
  progress: MigrationProgress,
  now: number,
  limits: Limits,
): { watch: Watch; step: Step } {
  const moved = progress.remainingBytes < watch.lowestRemaining || progress.remainingBytes === 0;
  const next = moved ? { lowestRemaining: progress.remainingBytes, progressAt: now } : watch;
  return { watch: next, step: stepOf(next, progress, now, limits) };
}

function stepOf(watch: Watch, { mode, elapsedMs, iterations }: MigrationProgress, now: number, limits: Limits): Step {
  const { options } = limits;
  const late = options.completionTimeoutPerGiB > 0 && elapsedMs > allowedMs(limits, mode);
  if (mode === 'PostCopy') return late || iterations >= FIRST_PASS ? 'switch' : 'wait';
  const stuck = options.progressTimeout > 0 && now - watch.progressAt > options.progressTimeout * 1000;
  if (!late) return stuck ? 'timeout' : 'wait';
  if (mode === 'Paused') return 'timeout';
  if (options.allowPostCopy) return 'restart';
  return options.allowWorkloadDisruption ? 'pause' : 'timeout';
}
