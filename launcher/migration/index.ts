import { setTimeout as delay } from 'node:timers/promises';
import type {
  FinalizeRequest,
  MigrateRequest,
  MigrationEvent,
  MigrationView,
  PrepareTargetReply,
  PrepareTargetRequest,
} from '../../api/launcher/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { isActive } from '../domain-manager/assess.ts';
import type { Observation } from '../domain-manager/assess.ts';
import { qemuRuns } from '../domain-manager/processes.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import type { DomainEvent } from '../libvirt/events.ts';
import { DomainState } from '../libvirt/types.ts';
import { Emigration } from './emigration.ts';
import { Immigration } from './immigration.ts';
import type { MigrationPorts } from './ports.ts';
import { movesOf } from './record.ts';
import { blank, obstacleTo } from './admission.ts';
import type { SourceRecord } from './record.ts';
import { copiedDisks } from './start.ts';
import { isPostCopy, isUnderWayHere } from './view.ts';

const ANSWER_MS = 3_000;

/** All migrations of this launcher, by their uids: what the migration commands do. */
export class Migrations {
  readonly #ports: MigrationPorts;
  readonly #immigration: Immigration;
  /** The one under way, or the last one. */
  #emigration: Emigration | undefined;

  constructor(ports: MigrationPorts) {
    this.#ports = ports;
    this.#immigration = new Immigration(ports);
  }

  /** After a start of the launcher: goes on with what the one before it was at. */
  adopt(): void {
    for (const [uid, record] of Object.entries(this.#ports.memory.now.migrations ?? {})) {
      if (record.role !== 'source' || record.settled) continue;
      const emigration = this.#open(uid);
      if (record.outcome === undefined) void emigration.run({ attach: true });
      else if (record.outcome.kind === 'sourceActive') void emigration.resumeSource();
    }
  }

  /** Milliseconds for which a guest that has just come in is to be left alone yet. */
  get quietMs(): number {
    return this.#immigration.quietMs;
  }

  prepare(request: PrepareTargetRequest & { vmi: VirtualMachineInstance }): Promise<PrepareTargetReply> {
    return this.#immigration.prepare(request);
  }

  /** Begins it, or attaches to it, or tells again how it ended. Returns what stops listening. @throws CommandRefused */
  async migrate(request: MigrateRequest, listener: (event: MigrationEvent) => void): Promise<() => void> {
    const emigration = await this.#ports.domains.inOrder(() => this.#ensure(request));
    return emigration.listen(listener);
  }

  /** @throws CommandRefused */
  async cancel(uid: string): Promise<MigrationView> {
    await this.#ports.domains.inOrder(() => {
      if (this.#source(uid) === undefined) this.#bar(uid, 'aborted before it began');
      else if (this.#emigration?.uid === uid) this.#emigration.abort();
      return Promise.resolve();
    });
    return this.view(uid);
  }

  async resume(uid: string): Promise<MigrationView> {
    await this.#immigration.resume(uid);
    await this.#ports.domains.refresh();
    return this.view(uid);
  }

  async finalize(request: FinalizeRequest): Promise<MigrationView> {
    await this.#immigration.finalize(request);
    await this.#ports.domains.refresh();
    return this.view(request.migrationUid);
  }

  async abandon(uid: string): Promise<MigrationView> {
    await this.#immigration.abandon(uid);
    return this.view(uid);
  }

  /** Never throws: what cannot be found out is `unknown`. */
  async view(uid: string): Promise<MigrationView> {
    const { domains, memory } = this.#ports;
    const seen = await inTime(domains.domain.observe());
    if (seen !== undefined) this.observed(seen);
    const record = memory.now.migrations?.[uid];
    const source = record?.role === 'source' ? record : undefined;
    const target = record?.role === 'target' ? record : undefined;
    const running = source !== undefined && source.outcome === undefined;
    const emigration = this.#emigration?.uid === uid ? this.#emigration : undefined;
    const outcome = source?.outcome ?? emigration?.outcome;
    const { progress } = emigration ?? {};
    const disks = target === undefined ? await this.#copiedDisks(seen) : undefined;
    return {
      migrationUid: uid,
      role: record?.role ?? 'none',
      domain: this.#domainOf(seen),
      job: running || (target !== undefined && isUnderWayHere(seen)),
      postCopy: running ? source.postCopy : target !== undefined && isPostCopy(seen),
      resumed: target?.resumed ?? false,
      finalized: target?.finalized ?? false,
      ...(outcome === undefined ? {} : { outcome }),
      ...(progress === undefined ? {} : { progress }),
      ...(disks === undefined ? {} : { copiedDisks: disks }),
    };
  }

  /** The guest shall end: no migration may take it away any more, or bring half of it. */
  stopAll(): void {
    const { log } = this.#ports;
    this.#emigration?.abort();
    this.#immigration
      .giveUpParts()
      .catch((error: unknown) => log.warn({ err: error }, 'what has come in is still here'));
  }

  onEvent(event: DomainEvent): void {
    this.#emigration?.onEvent(event);
  }

  observed(seen: Observation): void {
    this.#immigration.observed(seen);
  }

  async #ensure({ migrationUid: uid, options, targetHost }: MigrateRequest): Promise<Emigration> {
    const { domains, memory } = this.#ports;
    if (this.#emigration?.uid === uid) return this.#emigration;
    if (this.#source(uid) !== undefined) return new Emigration(uid, this.#emigrationPorts());
    await domains.refresh();
    const seen = await domains.domain.observe();
    const { incoming } = movesOf(memory.now.migrations);
    if (incoming !== undefined || !isActive(seen) || seen === 'absent') {
      throw new CommandRefused('precondition', `migration ${uid}: no guest runs here`);
    }
    const obstacle = obstacleTo(seen, memory.now);
    if (obstacle !== undefined) return this.#bar(uid, obstacle);
    const guestPaused = seen.state === DomainState.paused;
    memory.recordMigration(uid, { ...blank, options, targetCpus: targetHost.cpuSet, guestPaused });
    const emigration = this.#open(uid);
    void emigration.run({ attach: false });
    return emigration;
  }

  #open(uid: string): Emigration {
    this.#emigration = new Emigration(uid, this.#emigrationPorts());
    return this.#emigration;
  }

  #emigrationPorts(): ConstructorParameters<typeof Emigration>[1] {
    const { domains, memory, log } = this.#ports;
    const changed = (): void => void domains.refresh().catch((error: unknown) => log.warn({ err: error }, 'not read'));
    return { domain: domains.domain, memory, log, size: () => this.#size(), changed };
  }

  /** It has not begun and never will. */
  #bar(uid: string, message: string): Emigration {
    const outcome = { kind: 'sourceActive' as const, cause: 'never' as const, message };
    this.#ports.memory.recordMigration(uid, { ...blank, outcome, settled: true });
    return new Emigration(uid, this.#emigrationPorts());
  }

  #source(uid: string): SourceRecord | undefined {
    const record = this.#ports.memory.now.migrations?.[uid];
    return record?.role === 'source' ? record : undefined;
  }

  #domainOf(seen: Observation | undefined): MigrationView['domain'] {
    const { incoming } = movesOf(this.#ports.memory.now.migrations);
    if (!qemuRuns()) return 'none';
    if (seen === undefined) return 'unknown';
    if (!isActive(seen)) return 'none';
    return incoming === undefined ? 'active' : 'incoming';
  }

  async #copiedDisks(seen: Observation | undefined): Promise<MigrationView['copiedDisks']> {
    if (seen === undefined || !isActive(seen)) return undefined;
    const disks = this.#ports.domains.domain.run(copiedDisks);
    disks.catch((error: unknown) => this.#ports.log.warn({ err: error }, 'the disks were not read'));
    return inTime(disks);
  }

  async #size(): Promise<number> {
    return this.#ports.domains.domain.run(async (client, domain) => {
      const [{ memoryKiB }, disks] = [await client.info(domain), await copiedDisks(client, domain)];
      return Number(memoryKiB) * 1024 + disks.reduce((sum, { size }) => sum + size, 0);
    });
  }
}

/** A view is wanted now: a libvirt that fails or does not answer has nothing to tell. */
const inTime = <T>(answer: Promise<T>): Promise<T | undefined> =>
  Promise.race([answer.catch(() => undefined), delay(ANSWER_MS, undefined, { ref: false })]);
