import type { DomainReport } from '../../../api/launcher/reports.ts';
import { isNewer } from '../../../api/launcher/reports.ts';

export interface HoldBackPorts {
  offer: (report: DomainReport) => void;
  /** What an activity that waits for the Pod's launcher will answer; absent: none does. */
  answer: (podUid: string) => Promise<DomainReport | undefined> | undefined;
  waitMs?: number;
}

/** What is answered by the activity that starts a guest, or shuts it down. */
const ANSWERED: readonly DomainReport['state'][] = ['running', 'shuttingDown', 'shutoff'];

/**
 * Keeps back what is about to be said anyway: that the guest runs, or stops, which the activity that has it do so answers, and that a launcher has no
 * domain yet, unless nobody gives it one for a while.
 */
export const holdBack = ({ offer, answer, waitMs = 3_000 }: HoldBackPorts): ((report: DomainReport) => void) => {
  const empty = new Map<string, NodeJS.Timeout>();
  return (report) => {
    const { podUid, state, end } = report;
    clearTimeout(empty.get(podUid));
    empty.delete(podUid);
    if (state === 'none' && end === undefined) {
      const tell = (): void => {
        empty.delete(podUid);
        if (answer(podUid) === undefined) offer(report);
      };
      empty.set(podUid, setTimeout(tell, waitMs).unref());
      return;
    }
    const awaited = ANSWERED.includes(state) ? answer(podUid) : undefined;
    if (awaited === undefined) return offer(report);
    void awaited.then((answered) => {
      if (answered === undefined || isNewer(report, answered)) offer(report);
    });
  };
};
