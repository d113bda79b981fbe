import type { GuestInfo } from '../../api/launcher/reports.ts';
import { polled } from './parse.ts';

export interface PollerPorts {
  /** Runs an agent command and gives its answer. */
  readonly command: (execute: string) => Promise<unknown>;
  /** Takes what is known, after each round that changed it or not. */
  readonly report: (guest: GuestInfo) => void;
  readonly log: { debug: (fields: object, message: string) => void };
}

/** A guest changes most while it boots: rounds come ever more slowly, up to KubeVirt's interval. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 120_000;

/** Asks the guest agent what it knows, for as long as it is connected. */
export class AgentPoller {
  readonly #ports: PollerPorts;
  #connected = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: PollerPorts) {
    this.#ports = ports;
  }

  /** The agent's channel was opened or closed. */
  connectedChanged(connected: boolean): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    clearTimeout(this.#timer);
    this.#ports.report({ connected });
    if (connected) void this.#rounds(FIRST_PAUSE_MS);
  }

  stop(): void {
    this.#connected = false;
    clearTimeout(this.#timer);
  }

  async #rounds(pauseMs: number): Promise<void> {
    const guest = await this.#ask();
    if (!this.#connected) return;
    this.#ports.report(guest);
    this.#timer = setTimeout(() => void this.#rounds(Math.min(pauseMs * 2, LONGEST_PAUSE_MS)), pauseMs);
  }

  /** One after the other: the agent answers one command at a time. A command that fails tells nothing. */
  async #ask(): Promise<GuestInfo> {
    let guest: GuestInfo = { connected: true };
    for (const [execute, parse] of Object.entries(polled)) {
      if (!this.#connected) break;
      try {
        guest = { ...guest, ...parse(await this.#ports.command(execute)) };
      } catch (error) {
        this.#ports.log.debug({ err: error, execute }, 'the guest agent did not answer');
      }
    }
    return guest;
  }
}
