import type { Memory } from '../domain-manager/memory.ts';

export interface FreezerPorts {
  /** @throws CommandRefused */
  readonly agent: (execute: string, seconds?: number) => Promise<unknown>;
  readonly memory: Pick<Memory, 'now' | 'update'>;
  readonly log: { warn: (fields: object, message: string) => void; info: (fields: object, message: string) => void };
  /** Frozen or thawed: the agent tells which. */
  readonly lookAgain: () => void;
  readonly clock?: () => number;
}

/** KubeVirt's default: whoever froze the guest may never come back. */
const THAW_AFTER_S = 300;
/** Freezing flushes all file systems first. */
const AGENT_SECONDS = 60;
const RETRY_MS = 5_000;
/** Of a guest that only its caller thaws: the last time that a Date can hold. */
const NEVER_MS = 8.64e15;
/** Longest time that a timer takes. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Freezes the guest's file systems, and thaws them in time. When that is due is remembered over a restart of the launcher. */
export class Freezer {
  readonly #ports: FreezerPorts;
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: FreezerPorts) {
    this.#ports = ports;
    this.#wait();
  }

  /**
   * Returns how many file systems are frozen; 0 when they were before.
   * @param thawAfterSeconds 0: the default, less than 0: never by itself
   * @throws CommandRefused; what was frozen until then is thawed again
   */
  async freeze(thawAfterSeconds: number): Promise<number> {
    const { agent, memory, lookAgain, clock = Date.now } = this.#ports;
    const isFrozen = (await agent('guest-fsfreeze-status')) === 'frozen';
    const seconds = thawAfterSeconds === 0 ? THAW_AFTER_S : thawAfterSeconds;
    memory.update({ thawAt: seconds < 0 ? NEVER_MS : clock() + seconds * 1000 });
    this.#wait();
    if (isFrozen) return 0;
    try {
      return Number(await agent('guest-fsfreeze-freeze', AGENT_SECONDS));
    } catch (error) {
      // Some may be frozen, and the agent may only have been slow to say so.
      memory.update({ thawAt: clock() });
      this.#wait();
      throw error;
    } finally {
      lookAgain();
    }
  }

  /** Returns how many file systems were thawed. None was frozen: success. @throws CommandRefused */
  async thaw(): Promise<number> {
    const { agent, memory, lookAgain } = this.#ports;
    try {
      const thawed = Number(await agent('guest-fsfreeze-thaw', AGENT_SECONDS));
      memory.update({ thawAt: undefined });
      clearTimeout(this.#timer);
      return thawed;
    } finally {
      lookAgain();
    }
  }

  /** The agent says that its file systems are frozen. By whom is not known of a guest that has moved here: then the default time holds. */
  seenFrozen(): void {
    const { memory, clock = Date.now } = this.#ports;
    if (memory.now.thawAt !== undefined) return;
    memory.update({ thawAt: clock() + THAW_AFTER_S * 1000 });
    this.#wait();
  }

  #wait(): void {
    const { memory, clock = Date.now } = this.#ports;
    clearTimeout(this.#timer);
    const { thawAt } = memory.now;
    if (thawAt === undefined) return;
    this.#after(Math.max(0, thawAt - clock()));
  }

  #after(ms: number): void {
    this.#timer = setTimeout(() => void this.#thawInTime(), Math.min(ms, LONGEST_WAIT_MS)).unref();
  }

  /** The agent may be away, or the guest paused: then again later. A guest that has ended needs it no more, and its launcher ends too. */
  async #thawInTime(): Promise<void> {
    const { memory, log, clock = Date.now } = this.#ports;
    const { thawAt } = memory.now;
    if (thawAt === undefined) return;
    if (thawAt > clock()) return this.#wait();
    try {
      const filesystems = await this.thaw();
      log.info({ filesystems }, 'file systems thawed: nobody had done it in time');
    } catch (error) {
      log.warn({ err: error }, 'file systems could not be thawed; trying again');
      if (memory.now.thawAt === thawAt) this.#after(RETRY_MS);
    }
  }
}
