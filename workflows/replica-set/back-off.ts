import type { Replica, ReplicaSetView } from '../../api/contract/replica-sets.ts';
import { crashLoopDelayMs, shareOf } from '../shared/crash-loop.ts';
import { after, msUntil } from '../shared/time.ts';

/** A VMI that ran for less has failed; one that ran for longer shows that they work. */
const WORKS_MS = 60_000;

/** VMIs of the set ended at once, so often in a row. JSON only. */
export interface BackOff {
  count: number;
  /** When that was counted last; RFC 3339. */
  since: string;
  /** None are created before; RFC 3339. */
  retryAt: string;
  /** Of the spec by which they were made. */
  generation?: number;
}

/**
 * Counts VMIs that ended at once, as a crash loop of a VM is counted: those that were created together once. One that works ends it, and so does a
 * changed spec. Pure. @param at now; RFC 3339
 */
export const withFailures = (before: BackOff | undefined, view: ReplicaSetView, at: string): BackOff | undefined => {
  const { generation, replicas } = view;
  const known = before?.generation === generation ? before : undefined;
  const later = replicas.filter(({ createdAt }) => known === undefined || msUntil(createdAt, known.since) > 0);
  const standing = later.some((one) => ranMs(one, at) >= WORKS_MS) ? undefined : known;
  const failed = later.find(
    (one) => one.standing === 'ended' && one.endedAt !== undefined && ranMs(one, at) < WORKS_MS,
  );
  if (failed === undefined) return standing;
  const count = (standing?.count ?? 0) + 1;
  const retryAt = after(at, crashLoopDelayMs(count, shareOf(failed.vmi.uid)));
  return { count, since: at, retryAt, ...(generation === undefined ? {} : { generation }) };
};

const ranMs = ({ runningSince, endedAt }: Replica, at: string): number =>
  runningSince === undefined ? 0 : msUntil(endedAt ?? at, runningSince);
