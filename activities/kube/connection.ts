import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { createSecureContext } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';

/** How the API server is reached now: options of each request to it. */
export interface Connection {
  /** Where: protocol, host, port, agent; and what is asked of the API server's certificate. */
  options: https.RequestOptions;
  /** Of the URL that the kubeconfig names, without a slash at its end. */
  basePath: string;
  /** Who asks. */
  headers: http.OutgoingHttpHeaders;
}

export interface Connections {
  /** @throws Error when credentials cannot be read */
  current(): Promise<Connection>;
  /** The next request reads credentials again. */
  forget(): void;
}

/** Credentials are used this long before they are read again, in ms: new ones are there long before the old ones end. */
const FRESH_MS = 10_000;

/**
 * Keeps what `config` says about the connection, and reads it again after a while (rotated service account tokens, certificates of a kubeconfig) or
 * when it is told to. Connections outlive that, as long as nothing that they were opened with has changed.
 */
export const connectionsOf = (config: KubeConfig, clock: () => number = Date.now): Connections => {
  let current: { connection: Promise<Connection>; at: number } | undefined;
  let opened: { agent: http.Agent; material: Material } | undefined;

  const forget = (): void => void (current = undefined);

  const read = async (): Promise<Connection> => {
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error('the kubeconfig names no cluster for its current context');
    const url = new URL(cluster.server);
    const given: https.RequestOptions = { headers: {} };
    await config.applyToHTTPSOptions(given);
    const material: Material = [given.ca, given.cert, given.key, given.rejectUnauthorized, given.servername];
    const agent = cluster.proxyUrl === undefined ? agentFor(url, material) : given.agent;
    const { protocol, hostname, port } = urlToHttpOptions(url);
    return {
      basePath: url.pathname.replace(/\/$/, ''),
      headers: given.headers as http.OutgoingHttpHeaders,
      options: { protocol, hostname, port, ...(given.auth ? { auth: given.auth } : {}), ...(agent ? { agent } : {}) },
    };
  };

  const agentFor = (url: URL, material: Material): http.Agent => {
    if (opened !== undefined && isSame(opened.material, material)) return opened.agent;
    const agent = url.protocol === 'http:' ? new http.Agent({ keepAlive: true }) : tlsAgent(material);
    opened = { agent, material };
    return agent;
  };

  return {
    current: (): Promise<Connection> => {
      if (current === undefined || clock() - current.at > FRESH_MS) {
        current = { connection: read(), at: clock() };
        current.connection.catch(forget);
      }
      return current.connection;
    },
    forget,
  };
};

type Material = [
  ca: https.RequestOptions['ca'],
  cert: https.RequestOptions['cert'],
  key: https.RequestOptions['key'],
  rejectUnauthorized: boolean | undefined,
  servername: string | undefined,
];

/** One context for all its connections: what is named for each is compared for each. */
const tlsAgent = ([ca, cert, key, rejectUnauthorized, servername]: Material): https.Agent =>
  new https.Agent({
    keepAlive: true,
    secureContext: createSecureContext({ ca, cert, key }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(servername === undefined ? {} : { servername }),
  });

const isSame = (before: Material, after: Material): boolean =>
  before.every((part, index) => {
    const other = after[index];
    return Buffer.isBuffer(part) && Buffer.isBuffer(other) ? part.equals(other) : part === other;
  });
