import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server, TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import type { Logger } from 'pino';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import { nodeOfPeer } from '../../../api/contract/certificates.ts';
import { KEEPALIVE_MS } from './dial.ts';
import { encodeFrame, FrameError, readFrame } from './frames.ts';
import type { Greeting, Header } from './messages.ts';
import { header, MAX_HEADER_BYTES } from './messages.ts';
import type { Refusals } from './refusals.ts';
import { peerTrouble } from './words.ts';

/** For the handshake, and then for the header. */
const PATIENCE_MS = 5_000;
/** Whoever they are: beyond it the kernel's connection is closed at once. */
const MAX_CONNECTIONS = 1_024;
const RETRY_MS = 2_000;

export interface Visitor {
  node: string;
  purpose: Header;
  socket: Socket;
  /** Lets it in; from then on the socket belongs to the caller. */
  accept: () => void;
  /** Tells it why not, and closes. */
  refuse: (kind: 'session' | 'limit' | 'target', reason: string) => void;
}

export interface ListenerOptions {
  address: string;
  port: number;
  credentials: PeerCredentials;
  /** Takes whoever showed the certificate of a node and said what it wants. */
  visit: (visitor: Visitor) => void;
  refusals: Refusals;
  log: Pick<Logger, 'info' | 'warn'>;
  signal: AbortSignal;
}

export interface Listener {
  /** Port that it listens on; undefined: it does not. */
  port(): number | undefined;
  /** Why it does not. */
  detail(): string;
  /** Resolves after the signal. */
  done: Promise<void>;
}

/** Listens for other nodes' workers as soon as there is a certificate, and keeps trying while the port is taken. Certificates change without a break. */
export const listenForPeers = (options: ListenerOptions): Listener => {
  const { address, credentials, log, signal } = options;
  let server: Server | undefined;
  let detail = '';

  const serve = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        server = await listen(options);
        log.info({ address, port: portOf(server) }, 'listening for other node workers');
        break;
      } catch (error) {
        detail = `cannot listen on ${address}:${options.port}: ${peerTrouble(error)}`;
        log.warn({ err: error, address, port: options.port }, 'cannot listen for other node workers; trying again');
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await aborted(signal);
    server?.close();
  };
  credentials.onChange(() => {
    const current = credentials.current();
    if (current !== undefined) server?.setSecureContext({ ...current, minVersion: 'TLSv1.3' });
  });
  const done = Promise.race([credentials.ready, aborted(signal)]).then(serve);
  return {
    port: () => server && portOf(server),
    detail: () => (detail === '' ? `this node's worker has ${credentials.detail()}` : detail),
    done,
  };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const portOf = (server: Server): number | undefined => {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : undefined;
};

const listen = (options: ListenerOptions): Promise<Server> => {
  const { address, port, credentials, refusals } = options;
  const server = createServer({
    ...credentials.current(),
    minVersion: 'TLSv1.3',
    requestCert: true,
    // Looked at in `receive`: so that who is refused learns why.
    rejectUnauthorized: false,
    allowHalfOpen: true,
    handshakeTimeout: PATIENCE_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => refusals.add('limit', undefined, 'too many connections at once'));
  server.on('tlsClientError', (error, socket) => {
    refusals.add('tls', socket.remoteAddress, peerTrouble(error));
    socket.destroy();
  });
  server.on('secureConnection', (socket) => void receive(socket, options));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
};

/** Never rejects: whatever a visitor does wrong ends its connection only. */
const receive = async (socket: TLSSocket, { visit, refusals }: ListenerOptions): Promise<void> => {
  socket.on('error', () => socket.destroy());
  socket.setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS);
  const answer = (greeting: Greeting): void => void socket.write(encodeFrame(greeting));
  const refuse = (kind: Parameters<Refusals['add']>[0], reason: string): void => {
    refusals.add(kind, socket.remoteAddress, reason);
    answer({ accepted: false, reason });
    socket.destroySoon();
  };
  const identity = identify(socket);
  if ('refused' in identity) return refuse('certificate', identity.refused);
  try {
    const frame = await readFrame(socket, { maxBytes: MAX_HEADER_BYTES, timeoutMs: PATIENCE_MS });
    const purpose = header.safeParse(frame);
    if (!purpose.success) return refuse('header', 'the header is not one that this release knows');
    visit({
      node: identity.node,
      purpose: purpose.data,
      socket,
      accept: () => answer({ accepted: true }),
      refuse,
    });
  } catch (error) {
    if (error instanceof FrameError) refuse('header', error.message);
    else socket.destroy();
  }
};

/** Which node's worker it is; a certificate counts only if one of our authorities signed it and it is valid now. */
const identify = (socket: TLSSocket): { node: string } | { refused: string } => {
  if (!socket.authorized) return { refused: peerTrouble(authorizationError(socket)) };
  // A resumed session would vouch for a certificate that nobody looked at again.
  if (socket.isSessionReused()) return { refused: 'TLS sessions are not resumed' };
  const node = nodeOfPeer(socket.getPeerCertificate().subjectaltname);
  return node === undefined ? { refused: 'its certificate is not that of a node worker' } : { node };
};

/** Node sets a code here, though its types say Error. */
const authorizationError = (socket: TLSSocket): unknown => {
  const error: unknown = socket.authorizationError;
  return typeof error === 'string' ? Object.assign(new Error('certificate refused'), { code: error }) : error;
};
