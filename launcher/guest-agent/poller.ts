import type { GuestInfo } from '../../api/launcher/reports.ts';
import { polled } from './parse.ts';

export interface PollerPorts {
  /** Runs an agent command and gives its answer. */
  readonly command: (execute: string) => Promise<unknown>;
  /** Takes what is known, after each round that changed it or not. */
  readonly report: (guest: GuestInfo) => void;
  readonly log: { debug: (fields: object, message: string) => void };
  /** Milliseconds for which the guest is to be left alone yet. */
  readonly quietMs?: () => number;
}

/** A guest changes most while it boots: rounds come ever more slowly, up to KubeVirt's interval. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 120_000;

/** Asks the guest agent what it knows, for as long as it is connected. */
export class AgentPoller {
  readonly #ports: PollerPorts;
  #connected = false;
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  /** What the last round told, that was not asked of a frozen guest. */
  #known: GuestInfo = { connected: false };

  constructor(ports: PollerPorts) {
    this.#ports = ports;
  }

  /** The agent's channel was opened or closed. */
  connectedChanged(connected: boolean): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    clearTimeout(this.#timer);
    this.#known = { connected };
    this.#ports.report(this.#known);
    if (!connected) return;
    const quietMs = this.#ports.quietMs?.() ?? 0;
    if (quietMs > 0) this.#timer = setTimeout(() => void this.#rounds(FIRST_PAUSE_MS), quietMs);
    else void this.#rounds(FIRST_PAUSE_MS);
  }

  /** Something in the guest has changed: asks now. */
  lookAgain(): void {
    if (!this.#connected) return;
    clearTimeout(this.#timer);
    void this.#rounds(FIRST_PAUSE_MS);
  }

  stop(): void {
    this.#connected = false;
    clearTimeout(this.#timer);
  }

  async #rounds(pauseMs: number): Promise<void> {
    const round = ++this.#round;
    const guest = await this.#ask();
    // A later round, or none, goes on from here.
    if (!this.#connected || round !== this.#round) return;
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
        // The agent of a frozen guest answers little else: what it told before holds.
        if (guest.fsFreezeStatus !== undefined) return { ...this.#known, ...guest };
      } catch (error) {
        this.#ports.log.debug({ err: error, execute }, 'the guest agent did not answer');
      }
    }
    this.#known = guest;
    return guest;
  }
}
