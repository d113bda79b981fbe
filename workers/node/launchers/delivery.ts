import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { isNewer } from '../../../api/launcher/reports.ts';

/** Brings reports to the workflows that own them. */
export interface Delivery {
  /** Takes a report; older ones of the same Pod that are still waiting are dropped. Returns at once. */
  offer: (report: DomainReport) => void;
  /** Pods whose newest report is not delivered yet. */
  waiting(): number;
  /** Resolves once nothing waits. */
  settled(): Promise<void>;
}

export interface DeliveryOptions {
  /** Signals the instance's entity. */
  send: (report: DomainReport) => Promise<void>;
  log: Pick<Logger, 'warn' | 'debug'>;
  signal: AbortSignal;
  /** First and longest wait between attempts. */
  retryMs?: { first: number; most: number };
}

/**
 * One report at a time per Pod, the newest first. While Temporal is down only the newest is kept: each report holds the whole state. An entity that
 * does not exist (any more) has nothing to be told.
 */
export const deliverTo = ({ send, log, signal, retryMs = { first: 500, most: 10_000 } }: DeliveryOptions): Delivery => {
  const newest = new Map<string, DomainReport>();
  const running = new Map<string, Promise<void>>();

  const attempt = async (report: DomainReport): Promise<boolean> => {
    try {
      await send(report);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) {
        log.warn(
          { err: error, vmi: report.vmi, podUid: report.podUid },
          'a report could not be delivered; trying again',
        );
        return false;
      }
      log.debug({ vmi: report.vmi }, 'no workflow waits for this report');
    }
    return true;
  };

  const drain = async (podUid: string): Promise<void> => {
    let wait = retryMs.first;
    for (let report = newest.get(podUid); report && !signal.aborted; report = newest.get(podUid)) {
      if (await attempt(report)) {
        if (newest.get(podUid) === report) newest.delete(podUid);
        wait = retryMs.first;
      } else {
        await delay(wait, undefined, { signal }).catch(() => undefined);
        wait = Math.min(wait * 2, retryMs.most);
      }
    }
  };

  return {
    offer(report) {
      const { podUid } = report;
      if (!isNewer(report, newest.get(podUid))) return;
      newest.set(podUid, report);
      if (running.has(podUid)) return;
      running.set(
        podUid,
        drain(podUid).finally(() => running.delete(podUid)),
      );
    },
    waiting: () => newest.size,
    settled: async () => void (await Promise.all(running.values())),
  };
};
