import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import type { Logger } from 'pino';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import { nodeOfPeer } from '../../../api/contract/certificates.ts';
import type { Listener } from '../tls-listener.ts';
import { keepListening } from '../tls-listener.ts';
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

export interface Visitor {
  node: string;
  purpose: Header;
  socket: Socket;
  /** Lets it in; from then on the socket belongs to the caller. */
  accept: (greeting?: { window: boolean }) => void;
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

/** Listens for other nodes' workers. */
export const listenForPeers = (options: ListenerOptions): Listener =>
  keepListening({
    ...options,
    visitors: 'other node workers',
    make: () => serverFor(options),
    end: (server) => void server.close(),
  });

const serverFor = (options: ListenerOptions): Server => {
  const { credentials, refusals } = options;
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
  return server;
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
      accept: (greeting) => answer({ accepted: true, ...greeting }),
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
