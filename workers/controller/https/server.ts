import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { aborted } from '../../../activities/aborted.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { Logger } from '../../shared/logging.ts';

/** What serves one part of the paths. Both are handed requests as they come: nothing of the body is read, nobody is authenticated. */
export interface HttpsHandlers {
  request: (request: IncomingMessage, response: ServerResponse) => void;
  /** The handler owns the socket from here on. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Certificates (PEM) of the authorities by which clients' certificates are verified; they may change. */
export interface ClientAuthorities {
  /** Undefined: no client's certificate is accepted. */
  current(): string | undefined;
  onChange(listener: () => void): void;
}

export interface HttpsOptions {
  /** 0: any free one. */
  port: number;
  /** The server's own certificate. Every new connection gets the newest. */
  credentials: Pick<PeerCredentials, 'current' | 'onChange' | 'ready'>;
  /** By path prefix, whole segments: `/mutate` also serves `/mutate/x`. The longest that fits counts. */
  mounts: Record<string, HttpsHandlers>;
  /** A client is asked for a certificate, and may have none; each mount looks at `socket.authorized`. */
  clientCas?: ClientAuthorities;
  log: Logger;
  signal: AbortSignal;
  /** How long it goes on serving after the signal, until clients know that this Pod ends, in ms. */
  drainMs?: number;
}

export interface HttpsServer {
  port: number;
  /** Settles after the signal, when the last connection is closed. */
  closed: Promise<void>;
}

/** The API server's Go client drops idle connections after 90 s. Were we the first, a request could meet our end and fail. In ms. */
const KEEP_ALIVE_MS = 180_000;
/** A request must be here whole within this time, in ms. What is upgraded is not bound by it. */
const REQUEST_MS = 30_000;
const DRAIN_MS = 5_000;
/** Then connections that still work are cut, in ms. */
const LAST_MS = 5_000;

/**
 * The controller's one HTTPS listener. It opens with the first certificate and serves until the signal and a little longer; a new certificate, its own or
 * of the client authorities, holds for the next connection, without a restart.
 * @throws Error when stopped before there is a certificate, or when it cannot listen
 */
export const serveHttps = async (options: HttpsOptions): Promise<HttpsServer> => {
  const { port, credentials, clientCas, log, signal } = options;
  await orAborted(credentials.ready, signal);
  const server = createServer({
    ...contextOf(options),
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
  });
  const renew = (): void => server.setSecureContext({ ...contextOf(options), minVersion: 'TLSv1.2' });
  credentials.onChange(renew);
  clientCas?.onChange(renew);
  route(server, options);
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS client was not understood'));
  await listening(server, port);
  const address = server.address() as AddressInfo;
  log.info({ port: address.port, paths: Object.keys(options.mounts) }, 'front door open');
  return { port: address.port, closed: closedAfter(server, options) };
};

const contextOf = ({
  credentials,
  clientCas,
}: HttpsOptions): { cert?: string; key?: string; ca: string | string[] } => {
  const own = credentials.current();
  return {
    ...(own === undefined ? {} : { cert: own.cert, key: own.key }),
    // Nobody, where none is known: left out, Node would take the public authorities of the web.
    ca: clientCas?.current() ?? [],
  };
};

const route = (server: Server, { mounts, log, signal }: HttpsOptions): void => {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const handlersOf = ({ url = '/' }: IncomingMessage): HttpsHandlers | undefined => {
    const [path = '/'] = url.split('?');
    const prefix = prefixes.find((one) => path === one || path.startsWith(`${one}/`));
    return prefix === undefined ? undefined : mounts[prefix];
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (signal.aborted) response.setHeader('connection', 'close');
    const handlers = handlersOf(request);
    if (handlers === undefined) return answer(response, 404, 'there is nothing here\n');
    try {
      handlers.request(request, response);
    } catch (error) {
      log.error({ err: error, path: request.url }, 'request failed');
      answer(response, 500, 'it failed, and the log of this Pod says why\n');
    }
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const handlers = handlersOf(request);
    // A socket that breaks before its handler listens must not end the process.
    socket.on('error', () => socket.destroy());
    if (handlers === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    try {
      handlers.upgrade(request, socket, head);
    } catch (error) {
      log.error({ err: error, path: request.url }, 'upgrade failed');
      socket.destroy();
    }
  });
};

const answer = (response: ServerResponse, status: number, text: string): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
};

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => resolve());
  });

const closedAfter = async (server: Server, { signal, drainMs = DRAIN_MS }: HttpsOptions): Promise<void> => {
  await aborted(signal);
  await delay(drainMs, undefined, { ref: false });
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), LAST_MS);
  await closed;
  clearTimeout(cut);
};

const orAborted = async (wait: Promise<void>, signal: AbortSignal): Promise<void> => {
  await Promise.race([wait, aborted(signal)]);
  if (signal.aborted) throw new Error('stopped before there was a certificate to serve with');
};
