import { condition, setHandler } from '@temporalio/workflow';
import type { PodFacts } from '../../api/contract/facts.ts';
import { domainChanged, podChanged, wake } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { isNewer } from '../../api/launcher/reports.ts';

/** What an operation has been told while it runs. */
export interface Observations {
  pod: (uid: string) => PodFacts | undefined;
  domain: (podUid: string) => DomainReport | undefined;
  /** Takes in what an activity answered. */
  sawDomain: (report: DomainReport) => void;
  sawPod: (facts: PodFacts) => void;
  /** Increases with everything that is worth another look. */
  version: () => number;
  /** Increases with what ends a back-off at once: wake, retryNow, a Pod or a domain that ended. */
  calls: () => number;
  call: () => void;
  /** Waits for something new since `version`, at most `timeoutMs`. */
  change: (since: number, timeoutMs: number, summary: string) => Promise<void>;
}

/** Registers the handlers; to be called before the first await. */
export const observe = (): Observations => {
  const pods: Record<string, PodFacts> = {};
  const domains: Record<string, DomainReport> = {};
  let version = 0;
  let calls = 0;
  const call = (): void => {
    version += 1;
    calls += 1;
  };
  const sawDomain = (report: DomainReport): void => {
    if (!isNewer(report, domains[report.podUid])) return;
    domains[report.podUid] = report;
    if (hasEnded(report)) call();
    else version += 1;
  };
  const sawPod = (facts: PodFacts): void => {
    const known = pods[facts.uid];
    if (known?.gone === true) return;
    // The proof that a Pod has ended outlives the object.
    pods[facts.uid] = known?.provenEnded === true ? { ...facts, provenEnded: true } : facts;
    if (facts.provenEnded || facts.deleting || facts.gone === true) call();
    else version += 1;
  };
  setHandler(podChanged, sawPod);
  setHandler(domainChanged, sawDomain);
  setHandler(wake, call);
  return {
    pod: (uid) => pods[uid],
    domain: (podUid) => domains[podUid],
    sawDomain,
    sawPod,
    version: () => version,
    calls: () => calls,
    call,
    change: async (since, timeoutMs, summary) => {
      if (timeoutMs > 0) await condition(() => version > since, timeoutMs, { summary });
    },
  };
};

/** The launcher says that the guest is over. */
export const hasEnded = ({ state }: DomainReport): boolean => state === 'shutoff' || state === 'crashed';
