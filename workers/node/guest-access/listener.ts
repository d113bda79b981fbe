import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Listener } from '../../../activities/node/tls-listener.ts';
import { keepListening } from '../../../activities/node/tls-listener.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import { isController } from '../../../api/contract/certificates.ts';
import { GUEST_STREAM_PROTOCOL } from '../../../api/contract/guest-access.ts';
import type { Logger } from '../../shared/logging.ts';
import type { CallAnswer } from './calls.ts';
import type { Refusal } from './refusal.ts';
import { toRefusal } from './refusal.ts';

export interface ListenerOptions {
  address: string;
  /** 0: any. */
  port: number;
  credentials: PeerCredentials;
  /** For the handshake, and for the beginning of a request; twice as long for the whole. In ms. */
  patienceMs?: number;
  /** Answers a call. What it throws is told to the caller. */
  call: (request: IncomingMessage) => Promise<CallAnswer>;
  /** Opens a stream; `accept` tells the client so, and gives the connection. What it throws before that is told to the client. */
  stream: (request: IncomingMessage, accept: () => Socket) => Promise<void>;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  signal: AbortSignal;
}

const PATIENCE_MS = 5_000;
/** A host that vanished is noticed after this and ten probes, a second apart. What is idle otherwise stays open. */
const KEEPALIVE_MS = 10_000;
const MAX_CONNECTIONS = 2_048;
/** For streams to end in order when this worker stops. */
const LAST_MS = 1_000;

/** Serves the controllers' requests. */
export const listenForControllers = (options: ListenerOptions): Listener => {
  const sockets = new Set<Socket>();
  return keepListening({
    ...options,
    visitors: 'access to guests',
    make: () => {
      const server = serverFor(options);
      server.on('secureConnection', (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      return server;
    },
    end: (server) => {
      server.close();
      server.closeAllConnections();
      setTimeout(() => sockets.forEach((socket) => socket.destroy()), LAST_MS).unref();
    },
  });
};

const serverFor = (options: ListenerOptions): Server => {
  const { credentials, patienceMs = PATIENCE_MS, log } = options;
  const server = createServer({
    ...credentials.current(),
    minVersion: 'TLSv1.3',
    requestCert: true,
    // Looked at with each request: so that who is refused learns why.
    rejectUnauthorized: false,
    allowHalfOpen: true,
    handshakeTimeout: patienceMs,
    headersTimeout: patienceMs,
    requestTimeout: 2 * patienceMs,
    connectionsCheckingInterval: patienceMs,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('secureConnection', (socket) => socket.setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS));
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS client was not understood'));
  server.on('request', (request, response) => void answer(request, response, options));
  server.on('upgrade', (request, socket: TLSSocket, head: Buffer) => void upgrade(request, socket, head, options));
  return server;
};

/** Why whoever is at the other end is not let in; undefined: it is a controller. */
const strangerBecause = (socket: TLSSocket): string | undefined => {
  if (!socket.authorized) return `its certificate is not trusted (${String(socket.authorizationError)})`;
  // A resumed session would vouch for a certificate that nobody looked at again.
  if (socket.isSessionReused()) return 'TLS sessions are not resumed';
  return isController(socket.getPeerCertificate().subjectaltname)
    ? undefined
    : 'its certificate is not that of a controller';
};

/** Never rejects. */
const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { call, log }: ListenerOptions,
): Promise<void> => {
  response.on('error', () => undefined);
  const send = (status: number, type: string, body: Buffer): void =>
    void response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body);
  const stranger = strangerBecause(request.socket as TLSSocket);
  if (stranger !== undefined) {
    response.setHeader('connection', 'close');
    return send(403, 'application/json', json({ message: `only controllers are let in: ${stranger}` }));
  }
  try {
    const result = await call(request);
    if (result === undefined) response.writeHead(204).end();
    else if ('png' in result) send(200, 'image/png', result.png);
    else send(200, 'application/json', json(result.json));
  } catch (error) {
    const refusal = toRefusal(error);
    tell(log, request, refusal);
    send(refusal.status, 'application/json', json({ message: refusal.message }));
  }
};

/** Never rejects. */
const upgrade = async (
  request: IncomingMessage,
  socket: TLSSocket,
  head: Buffer,
  { stream, log }: ListenerOptions,
): Promise<void> => {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(0);
  const refuse = (status: number, message: string): void => {
    const body = json({ message });
    const lines = [`content-type: application/json`, `content-length: ${body.length}`, 'connection: close', '', ''];
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}`);
    socket.write(body);
    socket.destroySoon();
  };
  const stranger = strangerBecause(socket);
  if (stranger !== undefined) return refuse(403, `only controllers are let in: ${stranger}`);
  if (request.headers.upgrade !== GUEST_STREAM_PROTOCOL) return refuse(400, `upgrade to ${GUEST_STREAM_PROTOCOL}`);
  let accepted = false;
  try {
    await stream(request, () => {
      accepted = true;
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${GUEST_STREAM_PROTOCOL}\r\n\r\n`,
      );
      if (head.length > 0) socket.unshift(head);
      return socket;
    });
  } catch (error) {
    const refusal = toRefusal(error);
    tell(log, request, refusal);
    if (accepted) socket.destroy();
    else refuse(refusal.status, refusal.message);
  }
};

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

const tell = (log: ListenerOptions['log'], { url }: IncomingMessage, refusal: Refusal): void => {
  const fields = { request: url, status: refusal.status, reason: refusal.message };
  if (refusal.status >= 500) log.warn({ ...fields, err: refusal.cause }, 'a guest was not reached');
  else log.debug(fields, 'access to a guest refused');
};
