import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type {
  MigrationEvent,
  MigrationNumbers,
  MigrationOutcome,
  MigrationProgress,
} from '../../api/launcher/migration.ts';
import type { Observation } from '../domain-manager/assess.ts';
import type { LibvirtDomain } from '../domain-manager/libvirt-domain.ts';
import type { Memory } from '../domain-manager/memory.ts';
import { qemuRuns } from '../domain-manager/processes.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { isUnderWay } from '../libvirt/client.ts';
import type { DomainEvent } from '../libvirt/events.ts';
import { DomainState } from '../libvirt/types.ts';
import { judge, startWatch } from './convergence.ts';
import type { Watch } from './convergence.ts';
import { toNumbers, toProgress } from './numbers.ts';
import type { SourceRecord } from './record.ts';
import { startMigration } from './start.ts';
import { verdictOf } from './verdict.ts';

export interface EmigrationPorts {
  readonly domain: LibvirtDomain;
  readonly memory: Memory;
  readonly log: Logger;
  /** Bytes of memory and copied disks. */
  readonly size: () => Promise<number>;
  /** The record or the domain has changed. */
  readonly changed: () => void;
}

/** What came of the call to libvirt; a lost connection says nothing of it. */
interface Returned {
  readonly lost: boolean;
  readonly why?: string;
}

type Listener = (event: MigrationEvent) => void;

/** KubeVirt's interval too. */
const LOOK_EVERY_MS = 400;
/** While the guest stands still every millisecond counts. */
const SWITCHOVER_LOOK_MS = 5;
/** A libvirtd that restarts, or a call that has just been sent, shows no job for a moment. */
const NO_JOB_FOR_MS = 2_000;
const RETRY_MS = 200;
const POST_COPY_LOST_LOOK_MS = 2_000;
/** virDomainPausedReason. */
const PAUSED_FOR_MIGRATION = 2;

/** One migration away from here, from its start, or from a restart of the launcher, to its end. */
export class Emigration {
  readonly uid: string;
  readonly #ports: EmigrationPorts;
  readonly #listeners = new Set<Listener>();
  #news = false;
  #onNews: () => void = () => undefined;
  #watch: Watch = startWatch(Date.now());
  #progress: MigrationProgress | undefined;
  /** What `unknown` says, while it does. */
  #unknown: MigrationOutcome | undefined;
  #jobSeenAt = Date.now();
  #size: number | undefined;

  constructor(uid: string, ports: EmigrationPorts) {
    this.uid = uid;
    this.#ports = ports;
  }

  get progress(): MigrationProgress | undefined {
    return this.#progress;
  }

  get outcome(): MigrationOutcome | undefined {
    return this.#record.outcome ?? this.#unknown;
  }

  /** Carries it out; with `attach` one that libvirt may be at already. Never throws. */
  async run({ attach }: { attach: boolean }): Promise<void> {
    const { log } = this.#ports;
    let call = attach ? undefined : this.#call();
    for (;;) {
      try {
        const why = await this.#untilOver(call);
        const verdict = await this.#settle(why);
        if (verdict !== 'again') return await this.#end(verdict);
        this.#update({ mode: 'PostCopy', switched: false, stop: undefined });
        this.#watch = startWatch(Date.now());
        call = this.#call();
      } catch (error) {
        log.warn({ err: error, migration: this.uid }, 'the migration cannot be watched at the moment');
        call = undefined;
        await delay(RETRY_MS);
      }
    }
  }

  /** Calls with progress and, as the last, with the end. */
  listen(listener: Listener): () => void {
    const { outcome } = this;
    if (outcome !== undefined) {
      listener({ type: 'ended', outcome });
      return () => undefined;
    }
    if (this.#progress !== undefined) listener({ type: 'progress', progress: this.#progress });
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  stop(cause: 'aborted' | 'timeout'): void {
    if (this.#record.outcome !== undefined) return;
    if (this.#record.stop !== 'aborted') this.#update({ stop: cause });
    void this.#abort();
  }

  onEvent(event: DomainEvent): void {
    const { mode, outcome } = this.#record;
    if (event.kind === 'jobCompleted') this.#completed(toNumbers(event.stats, mode));
    // libvirt tells of a guest that we paused to converge in the same words.
    const switches = event.kind === 'lifecycle' && event.detail === 'migrated' && mode !== 'Paused';
    if (switches && outcome === undefined) {
      if (event.lifecycle === 'suspended') this.#update({ switched: true });
      if (event.lifecycle === 'resumed') this.#update({ switched: false });
    }
    this.#wake();
  }

  get #record(): SourceRecord {
    const record = this.#ports.memory.now.migrations?.[this.uid];
    if (record?.role !== 'source') throw new Error(`no record of migration ${this.uid}`);
    return record;
  }

  #update(change: Partial<SourceRecord>): void {
    this.#ports.memory.recordMigration(this.uid, { ...this.#record, ...change });
  }

  /** The call to libvirt. Never rejects. */
  async #call(): Promise<Returned> {
    try {
      await this.#ports.domain.run((client, domain) => startMigration(client, domain, this.uid, this.#record));
      return { lost: false };
    } catch (error) {
      if (error instanceof CommandRefused && error.kind === 'unavailable') return { lost: true };
      return { lost: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Watches until the call has returned, the job is over, or QEMU is gone. Returns why it failed, if libvirt told. */
  async #untilOver(call: Promise<Returned> | undefined): Promise<string | undefined> {
    let returned: Returned | undefined;
    let attached = call === undefined;
    void call?.then((value) => {
      if (value.lost) attached = true;
      else returned = value;
      this.#wake();
    });
    this.#jobSeenAt = Date.now();
    let nextLook = 0;
    for (;;) {
      if (returned !== undefined) return returned.why;
      if (this.#standsStill && !qemuRuns()) return undefined;
      if (Date.now() >= nextLook) {
        const job = await this.#look(attached);
        if (job) this.#jobSeenAt = Date.now();
        if (attached && Date.now() - this.#jobSeenAt > NO_JOB_FOR_MS) return undefined;
        nextLook = Date.now() + LOOK_EVERY_MS;
      }
      await this.#sleep(this.#standsStill ? SWITCHOVER_LOOK_MS : LOOK_EVERY_MS);
    }
  }

  /** The guest's CPUs are stopped for the last bit of pre-copy. Post-copy runs it elsewhere meanwhile: no hurry. */
  get #standsStill(): boolean {
    const { switched, mode, postCopy } = this.#record;
    return (switched && !postCopy) || mode === 'Paused';
  }

  /** Reads the job, reports progress, acts on it. True while libvirt has a job. */
  async #look(attached: boolean): Promise<boolean> {
    const { domain, log } = this.#ports;
    const { switched, mode, stop } = this.#record;
    if (switched && mode !== 'PostCopy' && !attached) return true; // Nothing to steer any more: libvirt is left alone.
    try {
      const job = await domain.run((client, ref) => client.jobStats(ref));
      if (!isUnderWay(job)) return false;
      this.#progress = toProgress(job.stats, mode);
      this.#tell({ type: 'progress', progress: this.#progress });
      if (stop !== undefined) await this.#abort();
      else await this.#steer(this.#progress);
      return true;
    } catch (error) {
      log.debug({ err: error }, 'no job statistics');
      return qemuRuns() && !(error instanceof CommandRefused && error.kind === 'failed');
    }
  }

  async #steer(progress: MigrationProgress): Promise<void> {
    const { domain, size, log } = this.#ports;
    const { options, mode, postCopy } = this.#record;
    if (postCopy) return;
    const { watch, step } = judge(this.#watch, progress, Date.now(), { options, size: (this.#size ??= await size()) });
    this.#watch = watch;
    if (step === 'wait') return;
    log.info({ migration: this.uid, step, mode, progress }, 'steering the migration');
    if (step === 'timeout' || step === 'restart') this.stop('timeout');
    if (step === 'pause') {
      this.#update({ mode: 'Paused' });
      await domain.run((client, ref) => client.suspend(ref));
    }
    if (step === 'switch') {
      this.#update({ postCopy: true });
      await domain
        .run((client, ref) => client.startPostCopy(ref))
        .catch((error: unknown) => {
          log.warn({ err: error }, 'libvirt does not switch to post-copy yet');
          if (error instanceof CommandRefused && error.kind === 'failed') this.#update({ postCopy: false });
        });
    }
  }

  async #abort(): Promise<void> {
    const { domain, log } = this.#ports;
    const { switched, postCopy } = this.#record;
    if (postCopy || switched) return;
    await domain
      .run((client, ref) => client.abortJob(ref))
      .catch((error: unknown) => {
        log.info({ err: error, migration: this.uid }, 'nothing could be aborted (yet)');
      });
  }

  /** How it ended, once that is clear. */
  async #settle(why: string | undefined): Promise<MigrationOutcome | 'again'> {
    const { memory } = this.#ports;
    for (;;) {
      const qemu = qemuRuns();
      const decided = { record: this.#record, qemu, destroying: memory.now.destroying !== undefined, why };
      const quick = verdictOf({ ...decided, seen: undefined, job: undefined });
      const verdict = quick !== 'wait' ? quick : verdictOf({ ...decided, ...(await this.#seen()) });
      if (verdict === 'wait') await this.#sleep(RETRY_MS);
      else if (verdict === 'again' || verdict.kind !== 'unknown') return verdict;
      else await this.#stayUnknown(verdict);
    }
  }

  async #seen(): Promise<{ seen: Observation | undefined; job: boolean | undefined }> {
    const { domain } = this.#ports;
    try {
      const seen = await domain.observe();
      if (seen === 'absent' || seen.state === DomainState.shutoff) return { seen, job: false };
      return { seen, job: await domain.run(async (client, ref) => isUnderWay(await client.jobStats(ref))) };
    } catch {
      return { seen: undefined, job: undefined };
    }
  }

  /** QEMU may still bring a post-copy to its end that libvirt has lost. */
  async #stayUnknown(outcome: MigrationOutcome): Promise<void> {
    if (this.#unknown === undefined) {
      this.#unknown = outcome;
      this.#ports.log.error({ migration: this.uid, outcome }, 'the outcome of the migration is not known');
      this.#tell({ type: 'ended', outcome });
    }
    await this.#sleep(POST_COPY_LOST_LOOK_MS);
  }

  async #end(outcome: MigrationOutcome): Promise<void> {
    const { memory, log, changed } = this.#ports;
    const ended = withNumbers(outcome, this.#progress);
    const record = { ...this.#record, outcome: ended };
    if (ended.kind === 'sourceGone') memory.recordMigration(this.uid, record, { end: 'migrated' });
    else memory.recordMigration(this.uid, record);
    this.#tell({ type: 'ended', outcome: ended });
    log.info({ migration: this.uid, outcome: ended }, 'the migration has ended');
    changed();
    if (ended.kind === 'sourceActive') await this.resumeSource();
    changed();
  }

  /** libvirt resumes the source itself, unless it was restarted meanwhile; who was paused by us for the migration is resumed too. */
  async resumeSource(): Promise<void> {
    const { domain, log } = this.#ports;
    const { mode, guestPaused } = this.#record;
    for (;;) {
      try {
        const seen = await domain.observe();
        const paused = seen !== 'absent' && seen.state === DomainState.paused;
        if (paused && !guestPaused && (seen.reason === PAUSED_FOR_MIGRATION || mode === 'Paused')) {
          await domain.run((client, ref) => client.resume(ref));
          log.info({ migration: this.uid }, 'resumed the guest here');
        }
        return this.#update({ settled: true });
      } catch (error) {
        log.warn({ err: error }, 'the guest is not resumed yet');
        await delay(RETRY_MS);
      }
    }
  }

  /** libvirt's final figures come after the hand-over. */
  #completed(numbers: MigrationNumbers): void {
    const { outcome } = this.#record;
    this.#progress = numbers;
    if (outcome?.kind === 'sourceGone') this.#update({ outcome: { ...outcome, numbers } });
  }

  #tell(event: MigrationEvent): void {
    for (const listener of this.#listeners) listener(event);
    if (event.type === 'ended') this.#listeners.clear();
  }

  /** Sleeps up to `ms`, or until something has changed. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#news) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#onNews = () => (clearTimeout(timer), resolve());
      });
    }
    this.#news = false;
  }

  #wake(): void {
    this.#news = true;
    this.#onNews();
  }
}

function withNumbers(outcome: MigrationOutcome, numbers: MigrationNumbers | undefined): MigrationOutcome {
  return outcome.kind === 'unknown' || numbers === undefined ? outcome : { ...outcome, numbers };
}
