import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import type { Rest, RestOptions } from '../../activities/kube/rest.ts';
import { restOf } from '../../activities/kube/rest.ts';

/** One scripted answer. A watch is given the response to write lines to. */
export type Answer = { status: number; body: object } | ((response: ServerResponse) => void);

/** What the client asked for. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/**
 * A server for edge cases of the protocol that a real API server does not show on demand (broken lines, errors inside a watch, connections that die).
 * Everything else is tested against a real one.
 */
export const fakeApiServer = async (answer: (asked: Asked) => Answer, options: RestOptions = {}) => {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://server');
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const question = { method: request.method ?? '', path: url.pathname, query: url.searchParams, body };
      asked.push(question);
      const reply = answer(question);
      if (typeof reply === 'function') return reply(response.writeHead(200, { 'content-type': 'application/json' }));
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'fake', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'user', token: 'secret' },
  );
  const rest: Rest = restOf(config, options);
  return {
    rest,
    asked,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** A Kubernetes Status object. */
export const statusAnswer = (status: number, reason: string, message: string): Answer => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code: status },
});
