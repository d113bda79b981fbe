import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LAST_REPORT_FILE } from '../../api/launcher/paths.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { writeAtomically } from './memory.ts';

type Content = Pick<
  DomainReport,
  'state' | 'reason' | 'pausedBy' | 'migrationUid' | 'end' | 'tokenEpoch' | 'deadline' | 'agent' | 'hardware'
>;
type Watcher = (report: DomainReport) => void;

export interface ReportStreamOptions {
  readonly vmi: DomainReport['vmi'];
  readonly podUid: string;
  readonly epoch: number;
  /** State volume: the latest report is kept here, also for after the Pod's end. */
  readonly directory: string;
}

/** Numbers the reports, keeps the latest on disk, and passes each on to whoever watches. */
export class ReportStream {
  readonly #options: ReportStreamOptions;
  readonly #watchers = new Set<Watcher>();
  #latest: DomainReport;
  #received = 0;
  #onReceived: () => void = () => undefined;

  constructor(options: ReportStreamOptions) {
    this.#options = options;
    this.#latest = this.#number(0, { state: 'none', agent: { connected: false } });
  }

  get latest(): DomainReport {
    return this.#latest;
  }

  /** Reports what is true now; the same as before is no news. */
  publish(content: Content): void {
    if (isDeepStrictEqual(contentOf(this.#latest), contentOf(content))) return;
    this.#latest = this.#number(this.#latest.sequence.n + 1, content);
    this.#persist();
    this.#watchers.forEach((watcher) => watcher(this.#latest));
  }

  /** Calls with the latest report (unless it is the one of `after`) and with every later one, until the returned function is called. */
  watch(watcher: Watcher, after?: DomainReport['sequence']): () => void {
    const seen =
      after !== undefined && after.epoch === this.#latest.sequence.epoch && after.n >= this.#latest.sequence.n;
    if (seen) this.received(after);
    else watcher(this.#latest);
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** A reader has the report of this number. */
  received({ epoch, n }: DomainReport['sequence']): void {
    if (epoch !== this.#options.epoch) return;
    this.#received = Math.max(this.#received, n);
    this.#onReceived();
  }

  /** Resolves once a reader has the latest report, or after `timeoutMs`. */
  async latestReceived(timeoutMs: number): Promise<boolean> {
    const done = (): boolean => this.#received >= this.#latest.sequence.n;
    if (done()) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      this.#onReceived = () => {
        if (!done()) return;
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  #number(n: number, content: Content): DomainReport {
    const { vmi, podUid, epoch } = this.#options;
    return { vmi, podUid, node: '', sequence: { epoch, n }, at: new Date().toISOString(), ...content };
  }

  #persist(): void {
    writeAtomically(join(this.#options.directory, LAST_REPORT_FILE), JSON.stringify(this.#latest));
  }
}

const contentOf = (content: Content): unknown => {
  const { state, reason, pausedBy, migrationUid, end, tokenEpoch, deadline, agent, hardware } = content;
  return { state, reason, pausedBy, migrationUid, end, tokenEpoch, deadline, agent, hardware };
};
