import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from 'node:tls';
import type { Logger } from 'pino';
import type { PeerCredentials } from '../../api/contract/certificates.ts';
import { aborted } from '../aborted.ts';
import { peerTrouble } from './migration-proxy/words.ts';

export interface TlsListenerOptions<S extends Server> {
  address: string;
  /** 0: any. */
  port: number;
  credentials: PeerCredentials;
  /** Whom it is for, in words: "other node workers". */
  visitors: string;
  /** The server, made anew for each attempt, with all its handlers. Whom it lets in is its own affair. */
  make: () => S;
  /** Ends it after the signal. */
  end: (server: S) => void;
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

const RETRY_MS = 2_000;

/** Serves on the node's address as soon as there is a certificate, and keeps trying while the port is taken. Certificates change without a break. */
export const keepListening = <S extends Server>(options: TlsListenerOptions<S>): Listener => {
  const { address, port, credentials, visitors, end, log, signal } = options;
  let server: S | undefined;
  let detail = '';
  credentials.onChange(() => {
    const current = credentials.current();
    if (current !== undefined) server?.setSecureContext({ ...current, minVersion: 'TLSv1.3' });
  });
  const serve = async (): Promise<void> => {
    while (!signal.aborted && server === undefined) {
      try {
        server = await listen(options);
        log.info({ address, port: portOf(server) }, `listening for ${visitors}`);
      } catch (error) {
        detail = `cannot listen on ${address}:${port}: ${peerTrouble(error)}`;
        log.warn({ err: error, address, port }, `cannot listen for ${visitors}; trying again`);
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await aborted(signal);
    if (server !== undefined) end(server);
  };
  return {
    port: () => server && portOf(server),
    detail: () => (detail === '' ? `this node's worker has ${credentials.detail()}` : detail),
    done: Promise.race([credentials.ready, aborted(signal)]).then(serve),
  };
};

/** Undefined: it has been closed. */
const portOf = (server: Server): number | undefined => (server.address() as AddressInfo | null)?.port;

const listen = <S extends Server>({ address, port, make }: TlsListenerOptions<S>): Promise<S> => {
  const server = make();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
};
