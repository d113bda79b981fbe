import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type {
  MigrationEvent,
  MigrationNumbers,
  MigrationOutcome,
  MigrationProgress,
} from '../../api/launcher/migration.ts';
import type { LibvirtDomain } from '../domain-manager/libvirt-domain.ts';
import type { Memory } from '../domain-manager/memory.ts';
import { qemuRuns } from '../domain-manager/processes.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import type { DomainEvent } from '../libvirt/events.ts';
import { Alarm } from './alarm.ts';
import { toNumbers } from './numbers.ts';
import type { SourceRecord } from './record.ts';
import { lookAtSource, resumeGuest } from './source.ts';
import { startMigration } from './start.ts';
import { Steering } from './steering.ts';
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
/** It may stand still for long when it was paused to converge. */
const PAUSED_LOOK_MS = 50;
/** A libvirtd that restarts, or a call that has just been sent, shows no job for a moment. */
const NO_JOB_FOR_MS = 2_000;
const RETRY_MS = 200;
const POST_COPY_LOST_LOOK_MS = 2_000;

/** One migration away from here, from its start, or from a restart of the launcher, to its end. */
export class Emigration {
  readonly uid: string;
  readonly #ports: EmigrationPorts;
  readonly #listeners = new Set<Listener>();
  readonly #alarm = new Alarm();
  readonly #steering: Steering;
  /** What `unknown` says, while it does. */
  #unknown: MigrationOutcome | undefined;
  #jobSeenAt = Date.now();

  constructor(uid: string, ports: EmigrationPorts) {
    this.uid = uid;
    this.#ports = ports;
    this.#steering = new Steering({
      ...ports,
      uid,
      record: () => this.#record,
      update: (change) => this.#update(change),
      report: (progress) => this.#tell({ type: 'progress', progress }),
    });
  }

  get progress(): MigrationProgress | undefined {
    return this.#steering.progress;
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
        this.#steering.begin();
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
    if (this.progress !== undefined) listener({ type: 'progress', progress: this.progress });
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  abort(): void {
    if (this.#record.outcome !== undefined) return;
    this.#steering.stop('aborted');
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
    this.#alarm.ring();
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
      this.#alarm.ring();
    });
    this.#jobSeenAt = Date.now();
    let nextLook = 0;
    for (;;) {
      if (returned !== undefined) return returned.why;
      if (this.#standsStill && !qemuRuns()) return undefined;
      if (Date.now() >= nextLook) {
        if (attached && !qemuRuns()) return undefined;
        const job = await this.#steering.look(attached);
        if (job) this.#jobSeenAt = Date.now();
        if (attached && Date.now() - this.#jobSeenAt > NO_JOB_FOR_MS) return undefined;
        nextLook = Date.now() + LOOK_EVERY_MS;
      }
      await this.#alarm.sleep(this.#pauseMs);
    }
  }

  /** The guest's CPUs are stopped for the last bit of pre-copy. Post-copy runs it elsewhere meanwhile: no hurry. */
  get #standsStill(): boolean {
    const { switched, mode, postCopy } = this.#record;
    return (switched && !postCopy) || mode === 'Paused';
  }

  get #pauseMs(): number {
    if (!this.#standsStill) return LOOK_EVERY_MS;
    return this.#record.switched ? SWITCHOVER_LOOK_MS : PAUSED_LOOK_MS;
  }

  /** How it ended, once that is clear. */
  async #settle(why: string | undefined): Promise<MigrationOutcome | 'again'> {
    const { domain, memory } = this.#ports;
    for (;;) {
      const qemu = qemuRuns();
      const decided = { record: this.#record, qemu, destroying: memory.now.destroying !== undefined, why };
      const quick = verdictOf({ ...decided, seen: undefined, job: undefined });
      const verdict = quick !== 'wait' ? quick : verdictOf({ ...decided, ...(await lookAtSource(domain)) });
      if (verdict === 'wait') await this.#alarm.sleep(RETRY_MS);
      else if (verdict === 'again' || verdict.kind !== 'unknown') return verdict;
      else await this.#stayUnknown(verdict);
    }
  }

  /** QEMU may still bring a post-copy to its end that libvirt has lost. */
  async #stayUnknown(outcome: MigrationOutcome): Promise<void> {
    if (this.#unknown === undefined) {
      this.#unknown = outcome;
      this.#ports.log.error({ migration: this.uid, outcome }, 'the outcome of the migration is not known');
      this.#tell({ type: 'ended', outcome });
    }
    await this.#alarm.sleep(POST_COPY_LOST_LOOK_MS);
  }

  async #end(outcome: MigrationOutcome): Promise<void> {
    const { memory, log, changed } = this.#ports;
    const ended = withNumbers(outcome, this.progress);
    const record = { ...this.#record, outcome: ended };
    if (ended.kind === 'sourceGone') memory.recordMigration(this.uid, record, { end: 'migrated' });
    else memory.recordMigration(this.uid, record);
    this.#tell({ type: 'ended', outcome: ended });
    log.info({ migration: this.uid, outcome: ended }, 'the migration has ended');
    changed();
    if (ended.kind === 'sourceActive') await this.resumeSource();
    changed();
  }

  /** The guest is to be here as it was before. Never throws. */
  async resumeSource(): Promise<void> {
    const { domain, log } = this.#ports;
    await resumeGuest(domain, this.#record, log);
    this.#update({ settled: true });
  }

  /** libvirt's final figures come after the hand-over; how far the guest was slowed down is not among them. */
  #completed(numbers: MigrationNumbers): void {
    const { outcome } = this.#record;
    if (outcome?.kind === 'sourceGone')
      this.#update({ outcome: { ...outcome, numbers: { ...outcome.numbers, ...numbers } } });
  }

  #tell(event: MigrationEvent): void {
    for (const listener of this.#listeners) listener(event);
    if (event.type === 'ended') this.#listeners.clear();
  }
}

function withNumbers(outcome: MigrationOutcome, numbers: MigrationNumbers | undefined): MigrationOutcome {
  return outcome.kind === 'unknown' || numbers === undefined ? outcome : { ...outcome, numbers };
}
