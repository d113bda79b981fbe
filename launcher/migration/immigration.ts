import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { FinalizeRequest, PrepareTargetReply, PrepareTargetRequest } from '../../api/launcher/migration.ts';
import { isActive, isRunning } from '../domain-manager/assess.ts';
import type { Observation } from '../domain-manager/assess.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { DomainState } from '../libvirt/types.ts';
import { markOf } from './domain-xml.ts';
import type { MigrationPorts } from './ports.ts';
import { movesOf } from './record.ts';
import type { TargetRecord } from './record.ts';

/** virDomainPausedReason of a domain that has come in whole; until then it is paused for the migration. */
const PAUSED_BY_REQUEST = 1;
/** QEMU's own rounds for a migration that it resumes itself. Milliseconds. */
const ANNOUNCE = { initial: 50, max: 550, rounds: 5, step: 50 };
/** A guest that has just come has to catch up: what can wait does not take its time, nor that of its node. Milliseconds. */
const QUIET_MS = 1_000;
const NOTHING: TargetRecord = { role: 'target', resumed: false, finalized: false, abandoned: false };

/** A migration that comes in: this launcher's domain is the guest's only once its source is proven gone, which the caller of `resume` knows. */
export class Immigration {
  readonly #ports: MigrationPorts;
  #quietUntil = 0;

  constructor(ports: MigrationPorts) {
    this.#ports = ports;
  }

  /** Milliseconds for which a guest that has come in is to be left alone yet. */
  get quietMs(): number {
    return Math.max(0, this.#quietUntil - Date.now());
  }

  /** Safe to repeat until the domain runs here. @throws CommandRefused, ConversionError */
  async prepare(request: PrepareTargetRequest & { vmi: VirtualMachineInstance }): Promise<PrepareTargetReply> {
    const { domains, memory, prepare, libvirtSocket } = this.#ports;
    const { migrationUid: uid, tokenEpoch, vmi, host, disks } = request;
    return domains.inOrder(async () => {
      const known = this.#record(uid);
      if (known?.abandoned === true) throw new CommandRefused('precondition', `migration ${uid} was given up here`);
      if (known === undefined) await this.#requireEmpty();
      domains.acceptEpoch(tokenEpoch);
      if (known?.resumed !== true) await prepare(vmi, host, disks);
      if (known === undefined) memory.recordMigration(uid, NOTHING);
      return { libvirtSocket };
    });
  }

  /** Lets the guest run. @throws CommandRefused `failed` when nothing has come in whole, `precondition` when nothing can any more */
  async resume(uid: string): Promise<void> {
    const { domains } = this.#ports;
    await domains.inOrder(async () => {
      const record = this.#require(uid);
      if (record.resumed) return;
      if (record.abandoned) throw new CommandRefused('precondition', `migration ${uid} was given up here`);
      const { seen, guestPaused } = await domains.domain.run(async (client, domain) => {
        const [seen, xml] = await Promise.all([client.state(domain), client.xml(domain)]);
        const mark = markOf(xml);
        if (mark?.uid !== uid) {
          throw new CommandRefused('precondition', `the domain here was brought by migration ${mark?.uid}, not ${uid}`);
        }
        this.#beginQuiet();
        if (isWhole(seen) && !mark.guestPaused) await client.resume(domain);
        return { seen, guestPaused: mark.guestPaused };
      });
      if (!isWhole(seen) && !isRunning(seen)) {
        throw new CommandRefused('failed', `migration ${uid} has not brought the whole guest here`);
      }
      this.#update(uid, { resumed: true });
      this.#ports.log.info({ migration: uid, guestPaused }, 'the guest is here');
      this.#afterQuiet(() => this.#settleIn());
    });
  }

  /** From now on an ordinary launcher of an ordinary domain. @throws CommandRefused */
  async finalize({ migrationUid: uid, tokenEpoch }: FinalizeRequest): Promise<void> {
    const { domains, log } = this.#ports;
    await domains.inOrder(async () => {
      const record = this.#require(uid);
      if (!record.resumed) throw new CommandRefused('precondition', `migration ${uid}: the guest was not resumed here`);
      domains.acceptEpoch(tokenEpoch);
      if (!record.finalized) {
        await domains.domain
          .run((client, domain) => client.monitorCommand(domain, 'announce-self', ANNOUNCE))
          .catch((error: unknown) => log.warn({ err: error }, 'the network was not told of the guest again'));
        this.#update(uid, { finalized: true });
        this.#afterQuiet(() => this.#setTime());
      }
      await this.#settleIn();
    });
  }

  /** Destroys what has come in. @throws CommandRefused `precondition` once the guest ran here */
  async abandon(uid: string): Promise<void> {
    const { domains } = this.#ports;
    await domains.inOrder(async () => {
      if (this.#record(uid) === undefined) await this.#requireEmpty();
      await domains.refresh(); // Also takes note of a guest that post-copy runs here.
      const record = this.#record(uid) ?? NOTHING;
      if (record.resumed) {
        throw new CommandRefused('precondition', `migration ${uid}: the guest was resumed here, it is not given up`);
      }
      if (!record.abandoned) this.#update(uid, { abandoned: true });
      await this.#destroy();
    });
  }

  /** What every look at the domain has to be told of. */
  observed(seen: Observation): void {
    const { memory, log } = this.#ports;
    for (const [uid, record] of Object.entries(memory.now.migrations ?? {})) {
      if (record.role !== 'target' || record.resumed) continue;
      if (isRunning(seen)) {
        log.info({ migration: uid }, 'the guest runs here');
        this.#beginQuiet();
        this.#update(uid, { resumed: true });
        this.#afterQuiet(() => this.#settleIn());
      } else if (record.abandoned && isActive(seen)) {
        void this.#destroy().catch((error: unknown) => log.warn({ err: error }, 'an unwanted domain is still here'));
      }
    }
  }

  /** For when the Pod ends: what has not come in whole is of no use to anybody. */
  async giveUpParts(): Promise<void> {
    const { domains, memory } = this.#ports;
    if (movesOf(memory.now.migrations).incoming === undefined) return;
    const seen = await domains.domain.observe();
    if (isActive(seen) && !isWhole(seen) && !isRunning(seen)) await this.#destroy();
  }

  async #destroy(): Promise<void> {
    const { domain, refresh } = this.#ports.domains;
    await domain.destroy();
    await domain.undefine();
    await refresh();
  }

  #beginQuiet(): void {
    if (this.#quietUntil === 0) this.#quietUntil = Date.now() + QUIET_MS;
  }

  #afterQuiet(act: () => Promise<void>): void {
    setTimeout(() => void act(), this.quietMs).unref();
  }

  async #settleIn(): Promise<void> {
    const { domains, log } = this.#ports;
    await domains.takeOver().catch((error: unknown) => log.warn({ err: error }, 'the domain was not read'));
  }

  /** The guest's clock stood still during the switch. */
  async #setTime(): Promise<void> {
    const { domains, log } = this.#ports;
    await domains.domain
      .run((client, domain) => client.agentCommand(domain, 'guest-set-time'))
      .catch((error: unknown) => log.info({ err: error }, "the guest's clock was not set: no guest agent"));
  }

  /** A launcher runs a domain once. */
  async #requireEmpty(): Promise<void> {
    const { domains, memory } = this.#ports;
    await domains.refresh();
    const { started, end, migrations = {} } = memory.now;
    const other = Object.entries(migrations).find(([, { role }]) => role === 'target')?.[0];
    if (other !== undefined) throw new CommandRefused('precondition', `this is the target of migration ${other}`);
    if (domains.active || started || end !== undefined) {
      throw new CommandRefused('precondition', 'this launcher has a domain of its own: it cannot take one in');
    }
  }

  #record(uid: string): TargetRecord | undefined {
    const record = this.#ports.memory.now.migrations?.[uid];
    return record?.role === 'target' ? record : undefined;
  }

  #require(uid: string): TargetRecord {
    const record = this.#record(uid);
    if (record === undefined) throw new CommandRefused('precondition', `this is not the target of migration ${uid}`);
    return record;
  }

  #update(uid: string, change: Partial<TargetRecord>): void {
    this.#ports.memory.recordMigration(uid, { ...(this.#record(uid) ?? NOTHING), ...change });
  }
}

/** All of the guest has come in, and waits for the hand-over. */
export const isWhole = (seen: Observation): boolean =>
  seen !== 'absent' && seen.state === DomainState.paused && seen.reason === PAUSED_BY_REQUEST;
