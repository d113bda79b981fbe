import { setTimeout as delay } from 'node:timers/promises';
import { LibvirtClient } from './client.ts';
import type { ClientOptions } from './client.ts';
import { LibvirtConnectionError } from './errors.ts';

export interface SessionOptions extends ClientOptions {
  /** Longest pause between attempts to connect, in milliseconds; the first ones are shorter. */
  readonly retryDelayMs?: number;
  /** After each connect: the place to read anew what events cannot have told meanwhile. May reject to try again. */
  readonly onConnected: (client: LibvirtClient) => void | Promise<void>;
  /** After each loss, and for each failed attempt. */
  readonly onDisconnected: (reason: Error) => void;
}

const RETRY_DELAY_MS = 200;
/** A daemon that starts listens within tens or hundreds of milliseconds: by this pause and factor it is noticed within a tenth of the time it took. */
const FIRST_RETRY_MS = 5;
const PAUSE_GROWTH = 1.1;

/** Stays connected to a libvirtd that may restart: connects again, for ever, until closed. */
export class LibvirtSession {
  readonly #options: SessionOptions;
  readonly #closing = new AbortController();
  readonly #finished: Promise<void>;
  #current = Promise.withResolvers<LibvirtClient>();

  private constructor(options: SessionOptions) {
    this.#options = options;
    this.#finished = this.#run();
  }

  static open(options: SessionOptions): LibvirtSession {
    return new LibvirtSession(options);
  }

  /**
   * The connected client, waited for at most `timeoutMs`.
   * @throws LibvirtConnectionError when there is none by then
   */
  async client(timeoutMs: number): Promise<LibvirtClient> {
    const stopWaiting = new AbortController();
    const late = delay(timeoutMs, undefined, { signal: stopWaiting.signal }).then(
      () => {
        throw new LibvirtConnectionError(`no connection to libvirt within ${timeoutMs} ms`);
      },
      () => this.#current.promise,
    );
    try {
      return await Promise.race([this.#current.promise, late]);
    } finally {
      stopWaiting.abort();
    }
  }

  /** Disconnects and stays so. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#finished;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const longest = this.#options.retryDelayMs ?? RETRY_DELAY_MS;
    let wait = FIRST_RETRY_MS;
    while (!signal.aborted) {
      const { reason, connected } = await this.#stayConnected(signal);
      if (signal.aborted) return;
      this.#options.onDisconnected(reason);
      if (connected) wait = FIRST_RETRY_MS;
      await delay(Math.min(wait, longest), undefined, { signal }).catch(() => undefined);
      wait *= PAUSE_GROWTH;
    }
  }

  /** One connection from its beginning to its end; returns why it ended, and whether there was one. */
  async #stayConnected(signal: AbortSignal): Promise<{ reason: Error; connected: boolean }> {
    let client: LibvirtClient | undefined;
    try {
      client = await LibvirtClient.connect(this.#options);
      await this.#options.onConnected(client);
    } catch (error) {
      await client?.close();
      return { reason: error instanceof Error ? error : new Error(String(error)), connected: false };
    }
    this.#current.resolve(client);
    const connected = client;
    const closeClient = (): void => void connected.close();
    signal.addEventListener('abort', closeClient, { once: true });
    if (signal.aborted) closeClient();
    const reason = await client.closed;
    signal.removeEventListener('abort', closeClient);
    this.#current = Promise.withResolvers();
    return { reason, connected: true };
  }
}
