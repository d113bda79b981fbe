import type { Logger } from 'pino';

/** Why somebody was not let in. */
export type RefusalKind = 'tls' | 'certificate' | 'header' | 'session' | 'limit' | 'target';

/** Counts those that were not let in, and logs each peer and reason once. */
export interface Refusals {
  add(kind: RefusalKind, peer: string | undefined, reason: string): void;
  counts(): ReadonlyMap<RefusalKind, number>;
}

/** So that whoever comes from many addresses does not fill our memory; after that many it is told again. */
const REMEMBERED = 1_000;

export const countRefusals = (log: Pick<Logger, 'warn'>): Refusals => {
  const counts = new Map<RefusalKind, number>();
  const told = new Set<string>();
  return {
    add(kind, peer, reason) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const key = `${peer} ${kind} ${reason}`;
      if (told.has(key)) return;
      if (told.size >= REMEMBERED) told.clear();
      told.add(key);
      log.warn({ peer, kind, reason }, 'a connection to the migration port is refused; told once per peer and reason');
    },
    counts: () => counts,
  };
};
