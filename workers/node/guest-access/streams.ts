import type { Socket } from 'node:net';
import { GUEST_STREAMS } from '../../../api/contract/guest-access.ts';
import type { GuestStream } from '../../../api/contract/guest-access.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import type { Joined } from './join.ts';
import { join } from './join.ts';
import { obstacleOf } from './guest.ts';
import { Refusal } from './refusal.ts';
import type { GuestRequest } from './request.ts';

/** Of one guest, and of all guests of this node. */
const MAX_PER_GUEST = 128;
const MAX_TOTAL = 1_024;
/** QEMU stops the guest's serial port while nobody takes its output: for one stuck client the others, and the log, must not wait longer. */
const CONSOLE_STALL_MS = 30_000;

interface Entry {
  what: GuestStream;
  podUid: string;
  close: Joined['close'];
}

/** A place among the streams, taken before there is one. */
export interface Place {
  /** Joins the guest's socket with the client that `accept` gives. @throws Refusal when the place was taken over meanwhile, or the guest has gone */
  join: (guest: Socket, accept: () => Socket) => void;
  /** Gives it back: there will be no stream. */
  leave: () => void;
}

export interface StreamsOptions {
  maxPerGuest?: number;
  maxTotal?: number;
  consoleStallMs?: number;
}

/** The streams of this node that are open. A console or display has one client: the next displaces it, as in KubeVirt. */
export class Streams {
  readonly #entries = new Set<Entry>();
  readonly #options: StreamsOptions;

  constructor(options: StreamsOptions = {}) {
    this.#options = options;
  }

  /** @throws Refusal 409 when the present client is not to be displaced, 429 when there are too many */
  take({ what, pod, params }: GuestRequest<GuestStream>): Place {
    const { maxPerGuest = MAX_PER_GUEST, maxTotal = MAX_TOTAL, consoleStallMs = CONSOLE_STALL_MS } = this.#options;
    const ofGuest = [...this.#entries].filter(({ podUid }) => podUid === pod.uid);
    const present = what === 'portforward' ? undefined : ofGuest.find((entry) => entry.what === what);
    if (present !== undefined && params['preserveSession'] === 'true') {
      throw new Refusal(409, `somebody else is connected to the ${what}`);
    }
    if (present !== undefined) {
      this.#entries.delete(present);
      present.close();
    } else if (ofGuest.length >= maxPerGuest || this.#entries.size >= maxTotal) {
      throw new Refusal(429, 'too many streams are open already');
    }
    const entry: Entry = { what, podUid: pod.uid, close: () => undefined };
    const leave = (): void => void this.#entries.delete(entry);
    this.#entries.add(entry);
    return {
      leave,
      join: (guest, accept) => {
        if (!this.#entries.has(entry) || guest.destroyed) {
          throw new Refusal(409, `${what}: somebody else has connected, or the guest has gone`);
        }
        const client = accept();
        const halfOpen = what === 'portforward';
        const stall = what === 'console' ? { stallMs: consoleStallMs } : {};
        entry.close = join({ client, guest, halfOpen, ...stall, done: leave }).close;
      },
    };
  }

  /** What a launcher says of its guest: streams of one that has gone, or moved away, end. */
  reported(report: Pick<DomainReport, 'podUid' | 'state' | 'end'>): void {
    if (obstacleOf(report) !== undefined) this.closePod(report.podUid);
  }

  closePod(podUid: string): void {
    for (const entry of this.#entries) if (entry.podUid === podUid) this.#close(entry);
  }

  closeAll(): void {
    for (const entry of this.#entries) this.#close(entry);
  }

  /** Open now, by kind. */
  count(): Record<GuestStream, number> {
    const counts = Object.fromEntries(GUEST_STREAMS.map((what) => [what, 0])) as Record<GuestStream, number>;
    for (const { what } of this.#entries) counts[what] += 1;
    return counts;
  }

  #close(entry: Entry): void {
    this.#entries.delete(entry);
    entry.close();
  }
}
