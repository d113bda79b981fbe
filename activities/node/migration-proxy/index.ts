import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { MigrationChannel } from '../../../api/launcher/migration.ts';
import { MIGRATION_CHANNELS, migrationSocket } from '../../../api/launcher/migration.ts';
import { failure } from '../../failures.ts';
import type { Launchers } from '../launcher-client/client.ts';
import { dialPeer } from './dial.ts';
import { serveHandOver } from './hand-over-server.ts';
import { peerLink } from './link.ts';
import type { Visitor } from './listener.ts';
import { listenForPeers } from './listener.ts';
import { HAND_OVER } from './messages.ts';
import { connectInPod, serveInPod } from './pod-sockets.ts';
import type { MigrationProxy, SourceSession, TargetSession } from './port.ts';
import type { RefusalKind } from './refusals.ts';
import { countRefusals } from './refusals.ts';
import { relay } from './relay.ts';
import type { LiveSession, Traffic } from './sessions.ts';
import { own, Sessions, trouble, welcome } from './sessions.ts';
import { sessionStore } from './store.ts';
import type { Directions } from './window.ts';
import { sourceWindow, targetWindow } from './window.ts';
import { peerTrouble } from './words.ts';

export type { MigrationProxy } from './port.ts';

export interface ProxyOptions {
  /** The kubelet's pods directory as this worker sees it. */
  pods: string;
  /** The node's own address, and the port to listen on; 0: any. */
  address: string;
  port: number;
  /** Where sessions are kept, on the node. */
  directory: string;
  credentials: PeerCredentials;
  launchers: Launchers;
  log: Pick<Logger, 'info' | 'warn'>;
  signal: AbortSignal;
}

export interface ProxyStats {
  sessions: Record<'source' | 'target', number>;
  /** Channels open now. */
  channels: Record<MigrationChannel, number>;
  /** Since the start. */
  traffic: Traffic;
  refused: ReadonlyMap<RefusalKind, number>;
}

/** The proxy of one node worker, at work until the signal. */
export interface RunningProxy extends MigrationProxy {
  /** Takes up the sessions of the worker before. Call once, before activities run. */
  reopen(): Promise<void>;
  /** Ends the sessions of Pods that are gone; returns their migrations. */
  sweep(isGone: (podUid: string) => Promise<boolean>): Promise<string[]>;
  /** Undefined: it listens; else why not. */
  trouble(): string | undefined;
  stats(): ProxyStats;
  done: Promise<void>;
}

/** To a socket in a Pod of this node. */
const POD_CONNECT_MS = 5_000;
const DRAIN_MS = 15_000;
const DRAIN_POLL_MS = 100;
/**
 * The source's libvirt hears last that a link is broken. QEMU, whose channels break, ends its migration by itself and takes its disks back; a libvirt that
 * hears of it first cancels what it has just told QEMU to bring to its end, and QEMU 7.2 can then run the guest without its disks.
 */
const CONTROL_LINGER_MS = 1_000;
/** Of libvirt and QEMU in one source Pod, per channel. */
const MAX_LOCAL_CONNECTIONS = 64;

const isControl = ({ session: { role } }: LiveSession, channel: MigrationChannel): boolean =>
  role === 'source' && channel === 'libvirt';

export const migrationProxy = (options: ProxyOptions): RunningProxy => {
  const { pods, address, directory, credentials, launchers, log } = options;
  const sessions = new Sessions();
  const store = sessionStore(directory, log);
  const refusals = countRefusals(log);
  const open = new Set<{ channel: MigrationChannel; near: Socket }>();
  /** Of channels that are closed. */
  const past: Traffic = { sent: 0, received: 0 };
  /** Sessions change one after the other. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const result = last.then(change);
    last = result.catch(() => undefined);
    return result;
  };

  /** Joins a socket of the Pod (`near`) to one of the network; both are the session's. */
  const join = (
    session: LiveSession,
    channel: MigrationChannel,
    [near, far]: [Socket, Socket],
    between: Directions | undefined,
  ): void => {
    own(session, near);
    own(session, far);
    if (isControl(session, channel)) session.control.add(near);
    const joined = { channel, near };
    open.add(joined);
    const done = (): void => {
      open.delete(joined);
      past.sent += near.bytesRead;
      past.received += near.bytesWritten;
    };
    relay(near, far, done, { between, lingerMs: isControl(session, channel) ? CONTROL_LINGER_MS : undefined });
  };

  /** Target: a node's worker wants in. */
  const visit = ({
    node,
    purpose: { migrationUid, channel, window = false },
    socket,
    accept,
    refuse,
  }: Visitor): void => {
    const found = sessions.get(migrationUid);
    if (found?.session.role !== 'target' || found.session.sourceNode !== node) {
      return refuse('session', `no migration ${migrationUid} from node ${node} is expected here`);
    }
    const full = sessions.full(found);
    if (full !== undefined) return refuse('limit', full);
    const { session } = found as LiveSession<TargetSession>;
    welcome(found, socket);
    if (channel === HAND_OVER) {
      accept();
      serveHandOver(socket, session, launchers).catch((error: unknown) =>
        log.warn({ err: error, migrationUid, node }, 'a hand-over connection broke off'),
      );
      return;
    }
    connectInPod(pods, session.pod.uid, session.sockets[channel], POD_CONNECT_MS).then(
      (near) => {
        if (socket.destroyed) return void near.destroy();
        accept({ window });
        join(found, channel, [near, socket], window ? targetWindow() : undefined);
      },
      (error: unknown) =>
        refuse('target', `channel ${channel}: the target's socket cannot be reached: ${peerTrouble(error)}`),
    );
  };

  /**
   * Source: libvirt or QEMU has connected to a socket in the Pod. Of several memory connections QEMU takes the first for the main one, in the target
   * too: none may overtake it.
   */
  const forward = async (found: LiveSession<SourceSession>, channel: MigrationChannel, near: Socket): Promise<void> => {
    near.on('error', () => near.destroy());
    own(found, near);
    const first = found.firsts.get(channel);
    if (first !== undefined) {
      await first;
      return dial(found, channel, near);
    }
    const through = dial(found, channel, near);
    found.firsts.set(channel, through);
    near.once('close', () => found.firsts.delete(channel));
    return through;
  };

  /** Never rejects. */
  const dial = async (found: LiveSession<SourceSession>, channel: MigrationChannel, near: Socket): Promise<void> => {
    const { migrationUid, target } = found.session;
    try {
      const { socket: far, window } = await dialPeer(credentials, target, { migrationUid, channel, window: true });
      if (near.destroyed) return void far.destroy();
      join(found, channel, [near, far], window ? sourceWindow() : undefined);
    } catch (error) {
      near.destroy();
      const reason = `channel ${channel}: ${error instanceof Error ? error.message : String(error)}`;
      if (!found.troubles.includes(reason)) log.warn({ err: error, migrationUid, channel }, 'a channel is not opened');
      trouble(found, reason);
    }
  };

  const openSource = async (session: SourceSession): Promise<void> => {
    const found = sessions.put(session);
    for (const channel of MIGRATION_CHANNELS) {
      if (found.servers.has(channel)) continue;
      const serve = (near: Socket): void => void forward(found, channel, near);
      const file = basename(migrationSocket(channel));
      const server = await serveInPod(pods, session.pod.uid, file, serve, MAX_LOCAL_CONNECTIONS);
      if (found.closed) server.close();
      else found.servers.set(channel, server);
    }
  };

  const end = async (migrationUid: string): Promise<void> => {
    sessions.end(migrationUid);
    await store.remove(migrationUid);
  };

  const listener = listenForPeers({ ...options, visit, refusals });

  /** Migrations that are nearly done may end before their node's worker does. */
  const drain = async (): Promise<void> => {
    for (const until = Date.now() + DRAIN_MS; open.size > 0 && Date.now() < until;) await delay(DRAIN_POLL_MS);
    for (const { session } of sessions.all()) sessions.end(session.migrationUid);
  };

  const traffic = (): Traffic =>
    [...open].reduce(
      ({ sent, received }, { near }) => ({ sent: sent + near.bytesRead, received: received + near.bytesWritten }),
      past,
    );
  const count = (role: SourceSession['role'] | TargetSession['role']): number =>
    sessions.all().filter(({ session }) => session.role === role).length;
  const channels = (channel: MigrationChannel): number => [...open].filter((one) => one.channel === channel).length;

  return {
    endpoint() {
      const port = listener.port();
      if (port === undefined) throw failure('PeerUnreachable', `other nodes cannot come in: ${listener.detail()}`);
      return { address, port };
    },
    admit: (session) =>
      inTurn(async () => {
        await store.save(session);
        sessions.put(session);
      }),
    open: (session) =>
      inTurn(async () => {
        await store.save(session);
        await openSource(session);
      }),
    link: ({ migrationUid, target }, onSilent) =>
      peerLink({
        dial: async () => (await dialPeer(credentials, target, { migrationUid, channel: HAND_OVER })).socket,
        node: target.node,
        ...(onSilent && { silent: { tell: onSilent } }),
      }),
    interrupt(migrationUid, why) {
      const found = sessions.get(migrationUid);
      if (found === undefined || found.sockets.size === 0) return;
      log.warn({ migrationUid, why }, 'the channels of a migration are broken off');
      trouble(found, why);
      // What is left of the control channel ends with its other half.
      for (const socket of found.sockets) if (!found.control.has(socket)) socket.destroy();
    },
    troubles: (migrationUid) => [...(sessions.get(migrationUid)?.troubles ?? [])],
    close: (migrationUid) => inTurn(() => end(migrationUid)),
    reopen: () =>
      inTurn(async () => {
        for (const session of await store.load()) {
          const { migrationUid, role } = session;
          try {
            if (session.role === 'source') await openSource(session);
            else sessions.put(session);
            log.info({ migrationUid, role }, 'the session of a migration is taken up again');
          } catch (error) {
            log.warn({ err: error, migrationUid, role }, 'the session of a migration cannot be taken up again');
            await end(migrationUid);
          }
        }
      }),
    sweep: (isGone) =>
      inTurn(async () => {
        const ended: string[] = [];
        for (const { session } of sessions.all()) {
          if (!(await isGone(session.pod.uid))) continue;
          await end(session.migrationUid);
          ended.push(session.migrationUid);
        }
        return ended;
      }),
    trouble: () => (listener.port() === undefined ? listener.detail() : undefined),
    stats: () => ({
      sessions: { source: count('source'), target: count('target') },
      channels: { libvirt: channels('libvirt'), memory: channels('memory'), block: channels('block') },
      traffic: traffic(),
      refused: refusals.counts(),
    }),
    done: listener.done.then(drain),
  };
};
