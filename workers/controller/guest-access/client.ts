import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { peerTrouble } from '../../../activities/node/migration-proxy/words.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import { nodeOfPeer } from '../../../api/contract/certificates.ts';
import { GuestAccessError } from './port.ts';

/** A node's worker. */
export interface NodeWorker {
  node: string;
  address: string;
  port: number;
}

export interface ClientOptions {
  credentials: Pick<PeerCredentials, 'current' | 'detail'>;
  /** For connection and handshake, in ms. */
  connectMs?: number;
}

export interface Exchange {
  method: string;
  path: string;
  body?: unknown;
  /** Upgrade to this protocol; `halfOpen`: the end of one direction is not the end of the other. */
  upgrade?: { protocol: string; halfOpen: boolean };
  /** For the answer's beginning, in ms. */
  timeoutMs: number;
}

/** What came of a request: an answer, or the connection as it was upgraded. */
export type Outcome = { response: IncomingMessage } | { stream: Duplex };

const CONNECT_MS = 5_000;
/** A host that vanished is noticed after this and ten probes, a second apart. What is idle otherwise stays open. */
const KEEPALIVE_MS = 10_000;

/** Asks a node's worker, each time over a connection of its own. @throws GuestAccessError 502, 503, 504 that names the node */
export const askNode = (
  { node, address, port }: NodeWorker,
  { method, path, body, upgrade, timeoutMs }: Exchange,
  { credentials, connectMs = CONNECT_MS }: ClientOptions,
): Promise<Outcome> => {
  const own = credentials.current();
  const peer = `the worker of node ${node} at ${address}:${port}`;
  if (own === undefined) {
    return Promise.reject(new GuestAccessError(503, `${peer}: this controller has ${credentials.detail()}`));
  }
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  // Node takes allowHalfOpen here too; its types do not know.
  const options: RequestOptions & { allowHalfOpen: boolean } = {
    ...{ host: address, port, method, path, ...own, minVersion: 'TLSv1.3', agent: false },
    allowHalfOpen: upgrade?.halfOpen ?? false,
    // By node, not by address: who the peer is stands in its certificate.
    checkServerIdentity: (_, { subjectaltname }) => {
      const shown = nodeOfPeer(subjectaltname);
      return shown === node ? undefined : new Error(`it shows the certificate of ${shown ?? 'no node'}`);
    },
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
      ...(upgrade === undefined ? {} : { connection: 'upgrade', upgrade: upgrade.protocol }),
    },
  };
  return new Promise((resolve, reject) => {
    const asked = request(options);
    const fail = (status: number, why: string, error?: unknown): void => {
      clearTimeout(timer);
      asked.destroy();
      reject(new GuestAccessError(status, `${peer}: ${why}`, error));
    };
    let timer = setTimeout(() => fail(504, `no connection within ${connectMs} ms`), connectMs);
    asked.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        clearTimeout(timer);
        timer = setTimeout(() => fail(504, `no answer within ${timeoutMs} ms`), timeoutMs);
        (socket as TLSSocket).setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS);
      });
    });
    asked.on('error', (error) => fail(502, peerTrouble(error), error));
    asked.on('response', (response) => {
      clearTimeout(timer);
      resolve({ response });
    });
    asked.on('upgrade', (_, socket: Duplex, head: Buffer) => {
      clearTimeout(timer);
      if (head.length > 0) socket.unshift(head);
      // Whoever uses it looks at its end too; an error that nobody listens to would end the process.
      socket.on('error', () => undefined);
      resolve({ stream: socket });
    });
    asked.end(text);
  });
};
