import type { Logger } from 'pino';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { DomainManager } from '../domain-manager/index.ts';
import type { Memory } from '../domain-manager/memory.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { movesOf } from '../migration/record.ts';
import { isExcused } from './excuse.ts';
import type { ExecRequest, ExecResult } from './exec.ts';
import { execInGuest } from './exec.ts';
import { Freezer } from './freezer.ts';
import { Screen } from './screen.ts';

export interface GuestPorts {
  readonly domains: DomainManager;
  readonly memory: Memory;
  readonly log: Logger;
  /** Something in the guest has changed that the agent can tell of. */
  readonly lookAgain: () => void;
  /** A directory that QEMU can write to. */
  readonly directory: string;
}

/** How long a guest agent may take, in seconds. */
const AGENT_SECONDS = 5;
/** What can be asked of the running guest, besides its start, its end and its migration. */
export class Guest {
  readonly #ports: GuestPorts;
  readonly freezer: Freezer;
  readonly #screen: Screen;

  constructor(ports: GuestPorts) {
    this.#ports = ports;
    const { memory, log, lookAgain, domains, directory } = ports;
    this.freezer = new Freezer({ agent: (execute, seconds) => this.agent(execute, seconds), memory, log, lookAgain });
    this.#screen = new Screen(domains.domain, directory);
  }

  /**
   * Runs a command of the guest agent.
   * @throws CommandRefused `precondition` when there is nobody who could answer, `failed` when the agent refuses or does not answer in time
   */
  async agent(execute: string, seconds = AGENT_SECONDS, args?: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { domains } = this.#ports;
    const { agent, state } = domains.reports.latest;
    if (!agent.connected) throw new CommandRefused('precondition', 'the guest agent is not connected');
    if (state === 'paused') throw new CommandRefused('precondition', 'the guest is paused: its agent cannot answer');
    try {
      return await domains.domain.run((client, domain) => client.agentCommand(domain, execute, args, seconds));
    } catch (error) {
      if (domains.reports.latest.agent.fsFreezeStatus === undefined || isUnavailable(error)) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new CommandRefused('precondition', `the guest's file systems are frozen: ${why}`, error);
    }
  }

  /** A probe of the user's: runs a command in the guest, or asks for a sign of life. @throws CommandRefused */
  async probe(command: ExecRequest | undefined): Promise<ExecResult> {
    const passed = { exitCode: 0, output: '' };
    try {
      if (command !== undefined) return await execInGuest((...order) => this.agent(...order), command);
      await this.agent('guest-ping');
    } catch (error) {
      const { domains, memory } = this.#ports;
      const leaving = movesOf(memory.now.migrations).leaving !== undefined;
      const probed = command === undefined ? 'ping' : 'exec';
      if (!isExcused(domains.reports.latest, { leaving, probed })) throw error;
    }
    return passed;
  }

  /** @throws CommandRefused */
  async unpause(): Promise<DomainReport> {
    const { domains, log } = this.#ports;
    const report = await domains.unpause();
    // Its clock stood still. Nobody has to wait for the agent, or for one to be there.
    if (report.agent.connected) {
      this.agent('guest-set-time').catch((error: unknown) => log.info({ err: error }, "the guest's clock was not set"));
    }
    return report;
  }

  /** @throws CommandRefused */
  async reset(): Promise<DomainReport> {
    const { domains } = this.#ports;
    await domains.requireRunning();
    await domains.domain.run((client, domain) => client.reset(domain));
    return domains.current();
  }

  /** @throws CommandRefused */
  async softReboot(): Promise<DomainReport> {
    const { domains } = this.#ports;
    await domains.requireRunning();
    await domains.domain.run((client, domain) => client.reboot(domain));
    return domains.current();
  }

  /** What the agent tells of the guest and its system, and which commands it knows. @throws CommandRefused */
  async info(): Promise<object> {
    const { agent } = this.#ports.domains.reports.latest;
    const answer = await this.agent('guest-info');
    return { ...agent, supportedCommands: (answer as { supported_commands?: unknown }).supported_commands };
  }

  /** PNG. @throws CommandRefused */
  async screenshot(options: { movePointer: boolean }): Promise<Buffer> {
    if (!this.#ports.domains.active) throw new CommandRefused('precondition', 'the guest does not run');
    return this.#screen.shot(options);
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof CommandRefused && error.kind === 'unavailable';
