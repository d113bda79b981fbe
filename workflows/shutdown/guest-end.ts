import type { PodFacts } from '../../api/contract/facts.ts';
import type { GuestEnd } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';

/** How the guest ended, from the best witness: its launcher, then the exit code of its Pod. */
export const guestEnd = (witness: {
  told: GuestEnd | undefined;
  report: DomainReport | undefined;
  pod: PodFacts | undefined;
  scheduled: boolean;
  /** Its start had succeeded. */
  started: boolean;
}): GuestEnd => {
  const { told, report, pod, scheduled, started } = witness;
  // A guest that has gone elsewhere has not ended.
  const seen = report?.end === 'migrated' ? undefined : report?.end;
  if (seen !== undefined && seen !== 'unknown') return seen;
  if (told !== undefined && told !== 'unknown') return told;
  if (report?.state === 'crashed') return 'crashed';
  if (!scheduled) return 'neverRan';
  if (!started && (report === undefined || report.state === 'none')) return 'neverRan';
  // The launcher exits with 0 after a clean end, whoever asked for it; and after its guest has gone elsewhere.
  if (pod?.exitCode === 0 && report?.end !== 'migrated') return 'guestShutdown';
  return 'unknown';
};
