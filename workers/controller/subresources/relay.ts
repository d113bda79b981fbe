import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { WebSocketServer } from 'ws';

/** What virtctl, and everything built on KubeVirt's client, asks for: plain bytes in binary messages. */
const PROTOCOLS = ['plain.kubevirt.io', 'binary'];
/** Of one message: a stream comes in small ones. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Between two signs of life where nothing happens, in ms: proxies on the way cut silent connections after a minute. */
const PING_MS = 25_000;
/** After this a connection without traffic is asked whether its peer is still there, in ms. */
const KEEP_ALIVE_MS = 15_000;
/** For the guest to take what its client sent before it left, in ms. */
const LAST_WORDS_MS = 10_000;

/** For clients to hear that the process stops, in ms. */
const FAREWELL_MS = 3_000;

/** Codes of RFC 6455 with which a stream ends. */
const ENDED = 1000;
const GOING_AWAY = 1001;
const BROKEN = 1011;
/** A reason has at most 123 bytes. */
const MAX_REASON_BYTES = 120;

export interface Relay {
  /** Accepts the client and joins it with the guest's stream, until one of them ends. A client that is not understood ends the stream. */
  join(request: IncomingMessage, socket: Duplex, head: Buffer, guest: Duplex): void;
}

/** Whether a request asks for a WebSocket, so that its handshake will not fail when the guest is reached already. */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  headers['sec-websocket-version'] === '13' &&
  /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');

/** Joins WebSockets of clients with streams of guests. At the signal clients are told to come again. */
export const createRelay = (signal: AbortSignal): Relay => {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
  });
  signal.addEventListener('abort', () => {
    for (const client of server.clients) client.close(GOING_AWAY, 'this API server stops: connect again');
    setTimeout(() => server.clients.forEach((client) => client.terminate()), FAREWELL_MS).unref();
  });
  return {
    join(request, socket, head, guest) {
      const abandon = (): void => void guest.destroy();
      socket.once('close', abandon);
      if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MS);
      server.handleUpgrade(request, socket, head, (client) => {
        socket.off('close', abandon);
        connect(client, guest);
      });
    },
  };
};

/** Copies both ways, each no faster than the other side takes it. */
const connect = (client: WebSocket, guest: Duplex): void => {
  const keepAlive = setInterval(() => client.ping(), PING_MS);
  const toClient = new Writable({
    write: (chunk: Buffer, _, done) => client.send(chunk, done),
    final: (done) => {
      client.close(ENDED);
      done();
    },
  });
  // Whoever closes a WebSocket hears so itself.
  toClient.on('error', () => undefined);
  guest.pipe(toClient);
  guest.on('error', ({ message }) => client.close(BROKEN, shortened(message)));
  guest.on('close', () => {
    if (!guest.readableEnded) client.close(BROKEN, 'the connection to the guest broke');
  });

  client.on('message', (data: Buffer) => {
    if (guest.writable && !guest.write(data)) client.pause();
  });
  guest.on('drain', () => client.resume());
  client.on('error', () => undefined);
  client.on('close', () => {
    clearInterval(keepAlive);
    if (guest.destroyed) return;
    const late = setTimeout(() => guest.destroy(), LAST_WORDS_MS);
    guest.on('close', () => clearTimeout(late));
    guest.end(() => guest.destroy());
  });
};

/** As much of a text as fits into a reason, in whole characters. */
const shortened = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_REASON_BYTES)).replace(/\uFFFD+$/, '');
