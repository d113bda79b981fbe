import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';
import { connectionsOf } from './connection.ts';
import { fromNetwork, fromResponse } from './errors.ts';

export interface RestRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  contentType?: string;
  /** Aborts the request, also while a stream is being read. */
  signal?: AbortSignal;
  /** Told once the server has accepted the request, before its first line. */
  onOpen?: () => void;
}

/**
 * The API server's REST interface in plain JSON. The Kubernetes client library gives only configuration and credentials: its generated
 * models turn times into Date objects and drop fields they do not know.
 */
export interface Rest {
  /** Sends a request and parses the answer. @throws KubeError */
  send(request: RestRequest): Promise<unknown>;
  /** Sends a request and yields each line of the answer, parsed (a watch). Ends when the server ends it. @throws KubeError */
  lines(request: RestRequest): AsyncGenerator<unknown, void, undefined>;
}

export interface RestOptions {
  /** For one answer; a watch may be silent for `silenceMs`. */
  timeoutMs?: number;
  silenceMs?: number;
}

/** KUBECONFIG, else ~/.kube/config, else the Pod's service account. */
export const defaultKubeConfig = (): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
};

/** Requests with the credentials of `config`, as they are rotated. */
export const restOf = (config: KubeConfig, { timeoutMs = 30_000, silenceMs = 90_000 }: RestOptions = {}): Rest => {
  const connections = connectionsOf(config);

  const open = async (request: RestRequest, idleMs: number): Promise<http.IncomingMessage> => {
    const { options, basePath, headers } = await connections.current();
    const query = request.query === undefined ? '' : `?${new URLSearchParams(request.query).toString()}`;
    const payload = request.body === undefined ? undefined : JSON.stringify(request.body);
    const asked: https.RequestOptions = {
      ...options,
      method: request.method,
      path: `${basePath}${request.path}${query}`,
      timeout: idleMs,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      headers: {
        ...headers,
        accept: 'application/json',
        'user-agent': 'virtflow',
        ...(payload === undefined
          ? {}
          : {
              'content-type': request.contentType ?? 'application/json',
              // Without it Node sends the body of a DELETE unframed.
              'content-length': Buffer.byteLength(payload),
            }),
      },
    };
    return dispatch(asked, payload);
  };

  const answered = async (request: RestRequest, idleMs: number): Promise<http.IncomingMessage> => {
    const response = await open(request, idleMs);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    if (status === 401) connections.forget();
    throw fromResponse(status, await text(response), `${request.method} ${request.path}`);
  };

  return {
    async send(request) {
      try {
        const body = await text(await answered(request, timeoutMs));
        return body === '' ? undefined : (JSON.parse(body) as unknown);
      } catch (error) {
        throw fromNetwork(error, `${request.method} ${request.path}`);
      }
    },
    async *lines(request) {
      try {
        const response = await answered(request, silenceMs);
        request.onOpen?.();
        let rest = '';
        // Leaving this loop early closes the connection.
        for await (const chunk of response.setEncoding('utf8')) {
          const lines = (rest + String(chunk)).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown;
        }
      } catch (error) {
        throw fromNetwork(error, `${request.method} ${request.path}`);
      }
    },
  };
};

/** One exchange; a kept-alive connection that the server had closed meanwhile is replaced once. */
const dispatch = (
  options: https.RequestOptions,
  payload: string | undefined,
  again = true,
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = (options.protocol === 'http:' ? http : https).request(options, resolve);
    request.on('timeout', () => request.destroy(new Error(`silent for ${options.timeout} ms`)));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (again && request.reusedSocket && error.code === 'ECONNRESET') {
        resolve(dispatch(options, payload, false));
      } else {
        reject(error);
      }
    });
    request.end(payload);
  });
