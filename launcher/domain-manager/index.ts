import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { DomainEnd, DomainHardware, DomainReport, GuestInfo } from '../../api/launcher/reports.ts';
import { domainName } from '../config.ts';
import type { LauncherConfig } from '../config.ts';
import type { DaemonPaths } from '../daemon/paths.ts';
import type { DomainEvent } from '../libvirt/events.ts';
import { LibvirtSilentError } from '../libvirt/errors.ts';
import { LibvirtSession } from '../libvirt/session.ts';
import { movesOf } from '../migration/record.ts';
import { assess, hasStarted, isActive } from './assess.ts';
import type { Assessment, Observation } from './assess.ts';
import { ShutdownEnforcer } from './enforcer.ts';
import { coalesced, exclusive } from './exclusive.ts';
import { hardwareOf, selinuxContext } from './hardware.ts';
import { LibvirtDomain } from './libvirt-domain.ts';
import type { Memory } from './memory.ts';
import { killLibvirtd } from './processes.ts';
import { CommandRefused } from './refusal.ts';
import type { ReportStream } from './report-stream.ts';
import { Stopper } from './stopper.ts';

export interface SyncRequest {
  readonly vmi: VirtualMachineInstance;
  readonly host: HostFacts;
  readonly tokenEpoch: number;
  readonly paused: boolean;
}

export interface DomainManagerOptions {
  readonly config: LauncherConfig;
  readonly memory: Memory;
  readonly reports: ReportStream;
  readonly daemon: DaemonPaths;
  readonly log: Logger;
  /** Makes the disk images of a VMI and gives the domain's XML. @throws CommandRefused, ConversionError */
  readonly prepare: (request: SyncRequest) => Promise<string>;
  /** The domain is about to run, or was found running: called with its XML, at least once. */
  readonly onDomain: (xml: string) => void;
  /** The guest agent's channel was opened or closed. */
  readonly onAgent: (connected: boolean) => void;
  /** libvirt told something of the domain. */
  readonly onEvent: (event: DomainEvent) => void;
  /** The domain was looked at; called before anything is concluded from it. */
  readonly onObserved: (seen: Observation) => void;
  /** The domain shall end. */
  readonly onStop: () => void;
}

/** Last time that a Date can hold. */
const END_OF_TIME_MS = 8.64e15;
const RETRY_MS = 200;
/** libvirt sends no event for a domain that ends while a restarted libvirtd attaches to it: look by timer too. */
const LOOK_EVERY_MS = 5_000;

/** Owns the domain: what is true of it is always libvirt's latest word, events only say when to look. */
export class DomainManager {
  readonly reports: ReportStream;
  /** Resolves once the domain has ended; a launcher runs a domain once. */
  readonly ended: Promise<DomainEnd>;
  readonly domain: LibvirtDomain;
  readonly #options: DomainManagerOptions;
  readonly #memory: Memory;
  readonly #log: Logger;
  readonly #session: LibvirtSession;
  readonly #stopper: Stopper;
  readonly #enforcer: ShutdownEnforcer;
  /** Commands that change the domain run one after the other. */
  readonly inOrder = exclusive();
  /** Looks at the domain and reports what is seen. @throws CommandRefused `unavailable` */
  readonly refresh = coalesced(() => this.#look());
  #resolveEnded: (end: DomainEnd) => void = () => undefined;
  #seen: Observation = 'absent';
  #active = false;
  #starting = false;
  #guest: GuestInfo = { connected: false };
  /** Why there is no connection to libvirt, as it was logged. */
  #disconnected: string | undefined;
  #hardware: DomainHardware | undefined;

  constructor(options: DomainManagerOptions) {
    this.#options = options;
    this.#memory = options.memory;
    this.#log = options.log;
    this.reports = options.reports;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#session = LibvirtSession.open({
      socketPath: options.daemon.socket,
      uri: 'qemu:///session',
      onEvent: (event) => this.#onEvent(event),
      onConnected: () => {
        this.#disconnected = undefined;
        void this.#adopt();
      },
      onDisconnected: (reason) => {
        this.#memory.lostSight();
        if (reason instanceof LibvirtSilentError) killLibvirtd(options.daemon.pidFile);
        if (reason.message !== this.#disconnected)
          this.#log.warn({ reason: reason.message }, 'not connected to libvirt');
        this.#disconnected = reason.message;
      },
    });
    this.domain = new LibvirtDomain(domainName(options.config.vmi), this.#session);
    this.#stopper = new Stopper({
      domain: this.domain,
      memory: options.memory,
      log: options.log,
      runtime: options.daemon.runtime,
      isActive: () => this.#active,
      agentConnected: () => this.#guest.connected,
      refresh: () => this.refresh(),
    });
    this.#enforcer = new ShutdownEnforcer({
      isActive: () => this.#active,
      signal: () => void this.#stopper.signal(),
      destroy: () => this.#stopper.destroyAtDeadline(),
      now: () => Date.now(),
    });
    setInterval(() => this.#lookBecause('by timer'), LOOK_EVERY_MS).unref();
  }

  /** A QEMU process stands behind the domain, as of the last look. */
  get active(): boolean {
    return this.#active;
  }

  /** Resolves once libvirt has answered, and a domain that was already there has been taken over. */
  async connected(): Promise<void> {
    for (;;) {
      try {
        return await this.refresh();
      } catch (error) {
        this.#log.warn({ err: error }, 'libvirt does not answer yet');
        await delay(RETRY_MS);
      }
    }
  }

  /** Spares the first start what libvirt can find out before. Never throws. */
  async warmUp(): Promise<void> {
    try {
      await this.domain.warmUp();
    } catch (error) {
      this.#log.debug({ err: error }, 'libvirt could not be warmed up');
    }
  }

  /** Ends the domain, if there is one, within `graceMs`: for when the Pod shall end, whoever wants that. */
  async stopWithin(graceMs: number): Promise<void> {
    this.shutdown(Date.now() + graceMs);
    // A start that is under way ends first: it has no domain yet that could be signalled.
    await this.inOrder(() => this.connected());
    while (this.#active) await Promise.race([this.ended, delay(RETRY_MS)]);
  }

  /** Newest report, after a fresh look. @throws CommandRefused `unavailable` */
  async current(): Promise<DomainReport> {
    await this.refresh();
    return this.reports.latest;
  }

  /**
   * Ensures that the domain runs, under the run token's epoch. A domain that has ended is not started again.
   * @throws CommandRefused, ConversionError
   */
  sync(request: SyncRequest): Promise<DomainReport> {
    return this.inOrder(async () => {
      const { incoming } = movesOf(this.#memory.now.migrations);
      if (incoming !== undefined) {
        throw new CommandRefused('precondition', `this is the target of migration ${incoming}: it starts no domain`);
      }
      this.acceptEpoch(request.tokenEpoch);
      await this.refresh();
      if (this.#active || this.#memory.now.end !== undefined) return this.reports.latest;
      if (this.#memory.now.shutdownDeadline !== undefined) {
        throw new CommandRefused('failed', 'the launcher was told to stop: it starts no domain any more');
      }
      await this.#start(request);
      return this.reports.latest;
    });
  }

  /** Shuts down by `deadline` (milliseconds since 1970), or earlier if that was asked for before. */
  shutdown(deadline: number): DomainReport {
    const by = Math.min(deadline, END_OF_TIME_MS);
    const { shutdownDeadline = Infinity } = this.#memory.now;
    if (by < shutdownDeadline) {
      this.#memory.update({ shutdownDeadline: by });
      this.#log.info({ deadline: new Date(by).toISOString() }, 'shutting down');
    }
    this.#options.onStop();
    this.#resumeShutdown();
    this.#publish();
    return this.reports.latest;
  }

  /** Destroys the domain. No domain: success, and none will be started. @throws CommandRefused */
  kill(): Promise<DomainReport> {
    const { shutdownDeadline = Infinity, destroying = 'killed' } = this.#memory.now;
    this.#memory.update({ shutdownDeadline: Math.min(Date.now(), shutdownDeadline), destroying });
    this.#options.onStop();
    return this.inOrder(async () => {
      await this.#stopper.destroy();
      const report = await this.current();
      if (this.#active) throw new CommandRefused('failed', `the domain is still ${report.state} after destroy`);
      return report;
    });
  }

  /** Removes the definition of a domain that has ended. @throws CommandRefused `precondition` while it runs */
  remove(): Promise<DomainReport> {
    return this.inOrder(async () => {
      await this.refresh();
      if (this.#active)
        throw new CommandRefused('precondition', `the domain is ${this.reports.latest.state}: stop it first`);
      await this.domain.undefine();
      return this.current();
    });
  }

  /** @throws CommandRefused `precondition` while a migration steers the guest's CPUs, or when the guest does not run */
  async pause(): Promise<DomainReport> {
    const { state } = await this.#atRest();
    if (state === 'paused') return this.reports.latest;
    await this.requireRunning();
    await this.domain.run((client, domain) => client.suspend(domain));
    return this.current();
  }

  /** @throws CommandRefused as `pause` */
  async unpause(): Promise<DomainReport> {
    const { state } = await this.#atRest();
    if (state === 'paused') await this.domain.run((client, domain) => client.resume(domain));
    else await this.requireRunning();
    return this.current();
  }

  /** @throws CommandRefused `precondition` while the guest's CPUs stand still, or a migration steers them */
  async requireRunning(): Promise<void> {
    const { state } = await this.#atRest();
    if (!this.#active || state === 'starting') throw new CommandRefused('precondition', 'the guest does not run');
    if (state === 'paused') throw new CommandRefused('precondition', 'the guest is paused');
    if (state === 'shuttingDown') throw new CommandRefused('precondition', 'the guest is shutting down');
    if (state === 'crashed') throw new CommandRefused('precondition', 'the guest has crashed');
  }

  /** What the guest agent tells. */
  guestChanged(guest: GuestInfo): void {
    this.#guest = guest;
    this.#publish();
  }

  /** Newest report, with no migration under way. */
  #atRest(): Promise<DomainReport> {
    const { incoming, leaving } = movesOf(this.#memory.now.migrations);
    const uid = incoming ?? leaving;
    if (uid !== undefined) throw new CommandRefused('precondition', `migration ${uid} is under way`);
    return this.current();
  }

  /** @throws CommandRefused `precondition` when a later epoch is known */
  acceptEpoch(tokenEpoch: number): void {
    const known = this.#memory.now.tokenEpoch ?? 0;
    if (tokenEpoch < known) {
      throw new CommandRefused(
        'precondition',
        `run token epoch ${tokenEpoch} is older than ${known}: somebody else took over`,
      );
    }
    if (tokenEpoch !== this.#memory.now.tokenEpoch) this.#memory.update({ tokenEpoch });
  }

  async #start(request: SyncRequest): Promise<void> {
    this.#starting = true;
    try {
      this.#publish();
      const xml = await this.#options.prepare(request);
      const domain = await this.domain.define(xml);
      this.#sawDomain(await this.domain.run((client) => client.xml(domain)));
      // A request to stop that came meanwhile wins: its own look at the domain found none.
      if (this.#memory.now.shutdownDeadline === undefined) {
        await this.domain.run((client) => client.create(domain, { paused: request.paused }));
      }
    } finally {
      this.#starting = false;
      await this.refresh();
    }
  }

  async #look(): Promise<void> {
    const seen = await this.domain.observe();
    this.#seen = seen;
    this.#active = isActive(seen);
    this.#options.onObserved(seen);
    const { state, end } = this.#assess();
    if (hasStarted(seen) && state !== 'incoming' && !this.#memory.now.started) this.#memory.update({ started: true });
    if (end !== undefined && this.#memory.now.end === undefined) this.#memory.update({ end });
    if (!this.#active) this.#guest = { connected: false };
    this.#publish();
    this.#resumeShutdown();
    if (end !== undefined) this.#resolveEnded(end);
  }

  #publish(): void {
    const { tokenEpoch, shutdownDeadline, migrations } = this.#memory.now;
    const { incoming, leaving, left, brought } = movesOf(migrations);
    const migrationUid = left ?? leaving ?? incoming ?? brought;
    const assessment = this.#assess();
    const state = this.#starting && assessment.state === 'none' ? 'starting' : assessment.state;
    this.reports.publish({
      ...assessment,
      state,
      agent: this.#guest,
      ...(this.#hardware === undefined ? {} : { hardware: this.#hardware }),
      ...(migrationUid === undefined ? {} : { migrationUid }),
      ...(tokenEpoch === undefined ? {} : { tokenEpoch }),
      ...(shutdownDeadline === undefined ? {} : { deadline: new Date(shutdownDeadline).toISOString() }),
    });
  }

  #assess(): Assessment {
    return assess(this.#seen, { ...this.#memory.now, ...movesOf(this.#memory.now.migrations) });
  }

  /** Also after a restart of the launcher: the deadline is remembered. */
  #resumeShutdown(): void {
    const { shutdownDeadline } = this.#memory.now;
    if (shutdownDeadline !== undefined && this.#active) this.#enforcer.enforce(shutdownDeadline);
    this.#enforcer.domainChanged();
  }

  /** After each connect: events may have been missed, and a domain may have been running before us. */
  async #adopt(): Promise<void> {
    try {
      await this.refresh();
      await this.takeOver();
    } catch (error) {
      this.#log.warn({ err: error }, 'the domain could not be read after connecting to libvirt');
    }
  }

  /** Serves a domain that runs already; one that still comes in is left alone. @throws CommandRefused */
  async takeOver(): Promise<void> {
    if (!this.#active || this.#isComingIn) return;
    const xml = await this.domain.run((client, domain) => client.xml(domain));
    this.#sawDomain(xml);
    this.#options.onAgent(agentIsConnected(xml));
  }

  #sawDomain(xml: string): void {
    this.#hardware = { ...hardwareOf(xml), selinuxContext: selinuxContext() };
    this.#options.onDomain(xml);
  }

  get #isComingIn(): boolean {
    return movesOf(this.#memory.now.migrations).incoming !== undefined;
  }

  #onEvent(event: DomainEvent): void {
    if (event.domain.name !== this.domain.name) return;
    this.#log.info({ event: { ...event, domain: undefined } }, 'libvirt event');
    this.#options.onEvent(event);
    if (event.kind === 'agent' && !this.#isComingIn) this.#options.onAgent(event.connected);
    if (isGuestGoingDown(event)) this.#memory.update({ wentDown: true });
    // A reboot by ACPI: the guest went down to come up again.
    if (event.kind === 'lifecycle' && event.lifecycle === 'resumed' && this.#memory.now.wentDown === true) {
      this.#memory.update({ wentDown: false });
    }
    this.#lookBecause(`after event ${event.kind}`);
  }

  #lookBecause(why: string): void {
    this.refresh().catch((error: unknown) => this.#log.warn({ err: error, why }, 'the domain could not be read'));
  }
}

const agentIsConnected = (xml: string): boolean => /org\.qemu\.guest_agent\.0'[^>]*state='connected'/.test(xml);

/** `host`: QEMU is being ended from outside. */
const isGuestGoingDown = (event: DomainEvent): boolean =>
  event.kind === 'lifecycle' && event.lifecycle === 'shutdown' && event.detail !== 'host';
