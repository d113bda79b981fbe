import type { Figure } from '../figures.ts';
import { figure, median } from '../figures.ts';

/** The first part of a soak fills caches and heaps. */
const WARM_UP_SHARE = 1 / 3;
/** A garbage collector's heap swings by some percent; what leaks in a quarter of an hour of such use is far more. */
const GROWTH_LIMIT = 1.15;

/**
 * Whether memory stays flat: the median of the last third of the samples against that of the second.
 * @param samples in MiB, at equal distances
 * @param isOurs otherwise it is told only: Temporal's dev server and the API server keep what they like
 */
export const growthOf = (what: string, samples: readonly number[], isOurs: boolean): Figure => {
  const third = Math.ceil(samples.length * WARM_UP_SHARE);
  return figure({
    ...{ name: `memory of ${what}, last third`, value: median(samples.slice(-third)), unit: 'MiB' },
    against: median(samples.slice(third, -third)),
    ...(isOurs ? { limit: GROWTH_LIMIT } : {}),
    note: 'against the second third',
  });
};

/** Memory that a process holds now, in MiB, from the text of its /proc/PID/status. */
export const residentOf = (status: string): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
