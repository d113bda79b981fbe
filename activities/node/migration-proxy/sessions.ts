import type { Server, Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { MigrationChannel } from '../../../api/launcher/migration.ts';
import type { Session } from './port.ts';

/** Connections from the source's node. Far above what a migration opens: one per channel, some more with parallel threads. */
const MAX_PER_SESSION = 64;
const MAX_TOTAL = 512;
const MAX_TROUBLES = 5;

/** Bytes that went over the network and came from it, through one channel. */
export interface Traffic {
  sent: number;
  received: number;
}

/** A session at work. */
export interface LiveSession<S extends Session = Session> {
  session: S;
  /** Of a source: what listens in its Pod. */
  servers: Map<MigrationChannel, Server>;
  /** Of a source: when the first of a channel's connections is through, as long as that stands. Never rejects. */
  firsts: Map<MigrationChannel, Promise<void>>;
  /** Of a source: the Pod's side of libvirt's channel. */
  control: Set<Socket>;
  /** Of a target: connections from the source's node, from before they are joined to the Pod's socket. */
  visitors: Set<Socket>;
  sockets: Set<Socket>;
  troubles: string[];
  closed: boolean;
}

export const live = <S extends Session>(session: S): LiveSession<S> => ({
  session,
  servers: new Map(),
  firsts: new Map(),
  control: new Set(),
  visitors: new Set(),
  sockets: new Set(),
  troubles: [],
  closed: false,
});

/** Sessions of this node by migration. */
export class Sessions {
  readonly #live = new Map<string, LiveSession>();

  get(migrationUid: string): LiveSession | undefined {
    return this.#live.get(migrationUid);
  }

  all(): LiveSession[] {
    return [...this.#live.values()];
  }

  /** The session that stands, if it is the same; else a new one in its place. */
  put<S extends Session>(session: S): LiveSession<S> {
    const found = this.#live.get(session.migrationUid);
    if (found !== undefined && isDeepStrictEqual(found.session, session)) return found as LiveSession<S>;
    this.end(session.migrationUid);
    const next = live(session);
    this.#live.set(session.migrationUid, next);
    return next;
  }

  /** Closes what listens and every connection. */
  end(migrationUid: string): void {
    const found = this.#live.get(migrationUid);
    if (found === undefined) return;
    this.#live.delete(migrationUid);
    found.closed = true;
    for (const server of found.servers.values()) server.close();
    for (const socket of found.sockets) socket.destroy();
  }

  /** Why this session cannot have one more connection; undefined: it can. */
  full({ visitors }: LiveSession): string | undefined {
    if (visitors.size >= MAX_PER_SESSION) return 'the migration has too many connections already';
    const total = this.all().reduce((sum, one) => sum + one.visitors.size, 0);
    return total >= MAX_TOTAL ? 'all migrations of this node have too many connections already' : undefined;
  }
}

/** The session answers for this socket until it closes. */
export const own = ({ sockets, closed }: LiveSession, socket: Socket): void => {
  if (closed) return void socket.destroy();
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
};

/** Counts against the session's limit until it closes. */
export const welcome = (session: LiveSession, visitor: Socket): void => {
  session.visitors.add(visitor);
  visitor.once('close', () => session.visitors.delete(visitor));
  own(session, visitor);
};

export const trouble = ({ troubles }: LiveSession, what: string): void => {
  if (troubles.includes(what)) return;
  troubles.push(what);
  if (troubles.length > MAX_TROUBLES) troubles.shift();
};
