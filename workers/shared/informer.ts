import { setTimeout as delay } from 'node:timers/promises';
import { listAll } from '../../activities/kube/client.ts';
import { collectionPath } from '../../activities/kube/kinds.ts';
import type { Kind, Kinds } from '../../activities/kube/port.ts';
import { KubeError } from '../../activities/kube/port.ts';
import type { Rest } from '../../activities/kube/rest.ts';
import type { Check } from './health.ts';
import type { Logger } from './logging.ts';

/** One object as it was and as it is: no `before`, it is new to us; no `after`, a watch or a list said that it is gone. */
export interface Change<T> {
  before?: T;
  after?: T;
}

export interface InformerOptions<K extends Kind> {
  rest: Rest;
  kind: K;
  /** One namespace only. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  log: Logger;
  onChange: (change: Change<Kinds[K]>) => void;
  clock?: () => number;
  /** A complete list this often, whatever the watch said, in ms. */
  resyncMs?: number;
  /** The server ends a watch after this long, in s; shorter than `silenceMs` of the connection. */
  watchSeconds?: number;
  /** Longest back-off between two attempts, in ms. */
  maxBackoffMs?: number;
}

interface Event {
  type?: string;
  object?: { metadata?: { resourceVersion?: string }; code?: number; reason?: string; message?: string };
}

/**
 * The server ends a watch after this long (a little more each time, so that not all end together), in s. Short, because a kind in which nothing
 * happens gets no bookmark either: the next watch is the only sign of life.
 */
const WATCH_SECONDS = 60;
/** A watch that is silent for longer than it may last hangs, in ms. */
const STALE_MS = 120_000;
/** An outage shorter than this is a restart of the API server, not worth a change of readiness. */
const OUTAGE_MS = 15_000;

/**
 * A cache of one kind: list, then watch, for as long as the process lives. Whatever happens (410, a broken or silent connection, an API server that
 * restarts) it goes on: from the last resourceVersion where that is possible, with a new list where it is not. Client-node's own cache stops at
 * the first error it does not know.
 */
export class Informer<K extends Kind> {
  readonly kind: K;
  readonly #options: InformerOptions<K>;
  readonly #clock: () => number;
  readonly #cache = new Map<string, Kinds[K]>();
  #resourceVersion: string | undefined;
  #listedAt = 0;
  #contactAt = 0;
  #failingSince: number | undefined;
  #failure = '';
  #markSynced: () => void = () => undefined;
  /** Resolves after the first complete list. */
  readonly synced: Promise<void>;
  /** True after the first complete list. */
  isSynced = false;

  constructor(options: InformerOptions<K>) {
    this.kind = options.kind;
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.synced = new Promise((resolve) => (this.#markSynced = resolve));
  }

  list(): Kinds[K][] {
    return [...this.#cache.values()];
  }

  /** By uid: a name alone may stand for a later object. */
  has(uid: string): boolean {
    return this.#cache.has(uid);
  }

  get(uid: string): Kinds[K] | undefined {
    return this.#cache.get(uid);
  }

  /** Runs until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    let attempt = 0;
    while (!signal.aborted) {
      try {
        if (this.#needsList()) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        attempt = this.#failingSince === undefined ? 1 : attempt + 1;
        this.#failed(error);
        // Whatever the server has against our position, a new list does without it.
        if (attempt % 3 === 0) this.#resourceVersion = undefined;
        await delay(this.#backoff(attempt), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Ok while lists and watches succeed; the detail tells when the API server was last heard. */
  check = (): Check => {
    const now = this.#clock();
    if (!this.isSynced) return { ok: false, detail: `not listed yet ${this.#failure}`.trim() };
    const detail = `${this.#cache.size} objects, last heard ${Math.round((now - this.#contactAt) / 1000)} s ago`;
    if (this.#failingSince !== undefined && now - this.#failingSince > OUTAGE_MS) {
      return { ok: false, detail: `${detail}; ${this.#failure}` };
    }
    return { ok: now - this.#contactAt < STALE_MS, detail };
  };

  #needsList(): boolean {
    const resyncMs = this.#options.resyncMs ?? 600_000;
    return this.#resourceVersion === undefined || this.#clock() - this.#listedAt > resyncMs;
  }

  #scope(): { namespace?: string } {
    const { namespace } = this.#options;
    return namespace === undefined ? {} : { namespace };
  }

  #selectors(): { labelSelector?: string; fieldSelector?: string } {
    const { labelSelector, fieldSelector } = this.#options;
    return {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { rest, kind } = this.#options;
    const { items, resourceVersion } = await listAll(rest, kind, { ...this.#scope(), ...this.#selectors(), signal });
    this.#heard();
    const alive = new Set(items.map(({ metadata }) => metadata?.uid ?? ''));
    for (const [uid, before] of this.#cache) if (!alive.has(uid)) this.#remove(uid, before);
    for (const item of items) this.#put(item);
    this.#resourceVersion = resourceVersion;
    this.#listedAt = this.#clock();
    this.isSynced = true;
    this.#markSynced();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { rest, kind, namespace, watchSeconds = WATCH_SECONDS } = this.#options;
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(Math.round(watchSeconds * (1 + Math.random() / 4))),
      resourceVersion: this.#resourceVersion ?? '',
      ...this.#selectors(),
    };
    const onOpen = (): void => this.#heard();
    const events = rest.lines({ method: 'GET', path: collectionPath(kind, namespace), query, signal, onOpen });
    try {
      for await (const event of events) {
        this.#heard();
        this.#apply(event as Event);
        if (this.#needsList()) return;
      }
    } catch (error) {
      if (error instanceof KubeError && error.status === 410) this.#resourceVersion = undefined;
      throw error;
    }
  }

  #apply({ type, object }: Event): void {
    if (type === 'ERROR' || object === undefined) {
      const { code = 0, reason = 'Unknown', message = 'the watch ended with an error' } = object ?? {};
      throw new KubeError(code, reason, `watch of ${this.kind}: ${message}`);
    }
    const item = object as Kinds[K];
    if (type === 'DELETED') {
      const uid = item.metadata?.uid ?? '';
      this.#remove(uid, item);
    } else if (type === 'ADDED' || type === 'MODIFIED') {
      this.#put(item);
    }
    this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
  }

  #put(after: Kinds[K]): void {
    const uid = after.metadata?.uid ?? '';
    const before = this.#cache.get(uid);
    if (before !== undefined && before.metadata?.resourceVersion === after.metadata?.resourceVersion) return;
    this.#cache.set(uid, after);
    this.#tell(before === undefined ? { after } : { before, after });
  }

  #remove(uid: string, before: Kinds[K]): void {
    this.#cache.delete(uid);
    this.#tell({ before });
  }

  /** One object that a listener cannot read must not stop the others. */
  #tell(change: Change<Kinds[K]>): void {
    try {
      this.#options.onChange(change);
    } catch (error) {
      const { namespace, name } = (change.after ?? change.before)?.metadata ?? {};
      this.#options.log.error({ err: error, kind: this.kind, namespace, name }, 'object cannot be read; skipped');
    }
  }

  #heard(): void {
    this.#contactAt = this.#clock();
    if (this.#failingSince !== undefined) this.#options.log.info({ kind: this.kind }, 'watching again');
    this.#failingSince = undefined;
    this.#failure = '';
  }

  #failed(error: unknown): void {
    this.#failure = error instanceof Error ? error.message : String(error);
    if (this.#failingSince === undefined) {
      this.#options.log.warn({ kind: this.kind, reason: this.#failure }, 'watch interrupted; going on');
    }
    this.#failingSince ??= this.#clock();
  }

  /** Full jitter, so that the informers of a restarted API server do not come back together. */
  #backoff(attempt: number): number {
    const ceiling = Math.min(this.#options.maxBackoffMs ?? 10_000, 250 * 2 ** Math.min(attempt, 10));
    return ceiling * (0.25 + 0.75 * Math.random());
  }
}
