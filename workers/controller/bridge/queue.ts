import { setTimeout as delay } from 'node:timers/promises';

export interface QueueOptions<V> {
  /** Delivers the newest value of a key. Throws: it is tried again, unless a newer value has come. */
  deliver: (key: string, value: V) => Promise<void>;
  onFailure: (key: string, error: unknown) => void;
  /** Comes after everything else that waits. */
  isLast?: (key: string, value: V) => boolean;
  /** Deliveries at a time. */
  concurrency?: number;
  /** Longest back-off of a key, in ms. */
  maxBackoffMs?: number;
}

/**
 * The newest value per key, delivered one at a time per key. While nothing can be delivered (Temporal is down) it holds one value per key, however
 * often it changes.
 */
export class CoalescingQueue<V> {
  readonly #options: QueueOptions<V>;
  /** Waiting values; insertion order is the order of delivery, but for those that come last. */
  readonly #waiting = new Map<string, V>();
  readonly #last = new Map<string, V>();
  readonly #busy = new Set<string>();
  readonly #failures = new Map<string, number>();
  #active = 0;
  #stopped = false;
  readonly #stop = new AbortController();

  constructor(options: QueueOptions<V>) {
    this.#options = options;
  }

  /** Values not delivered yet. */
  get size(): number {
    return this.#waiting.size + this.#last.size + this.#busy.size;
  }

  /** Something of that key is not delivered yet. */
  has(key: string): boolean {
    return this.#isWaiting(key) || this.#busy.has(key);
  }

  put(key: string, value: V): void {
    if (this.#stopped) return;
    this.#enter(key, value);
    this.#fill();
  }

  #isWaiting(key: string): boolean {
    return this.#waiting.has(key) || this.#last.has(key);
  }

  #enter(key: string, value: V): void {
    const [to, from] =
      this.#options.isLast?.(key, value) === true ? [this.#last, this.#waiting] : [this.#waiting, this.#last];
    from.delete(key);
    to.set(key, value);
  }

  /** Forgets everything; deliveries under way end as they may. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    this.#last.clear();
    this.#stop.abort();
  }

  #fill(): void {
    for (const waiting of [this.#waiting, this.#last]) {
      for (const [key, value] of waiting) {
        if (this.#active >= (this.#options.concurrency ?? 16)) return;
        if (this.#busy.has(key)) continue;
        waiting.delete(key);
        this.#busy.add(key);
        this.#active += 1;
        void this.#run(key, value);
      }
    }
  }

  async #run(key: string, value: V): Promise<void> {
    try {
      await this.#options.deliver(key, value);
      this.#failures.delete(key);
      this.#active -= 1;
    } catch (error) {
      this.#active -= 1;
      this.#options.onFailure(key, error);
      await this.#backOff(key);
      if (!this.#stopped && !this.#isWaiting(key)) this.#enter(key, value);
    }
    this.#busy.delete(key);
    this.#fill();
  }

  async #backOff(key: string): Promise<void> {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const ceiling = Math.min(this.#options.maxBackoffMs ?? 15_000, 200 * 2 ** Math.min(failures, 10));
    const { signal } = this.#stop;
    await delay(ceiling * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}
