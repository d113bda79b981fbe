import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Worker } from '@temporalio/worker';

export interface Check {
  ok: boolean;
  /** Why not, or how it stands. */
  detail: string;
}

/** What a process says of itself. Every part adds its own check; ready means that all hold. */
export class Health {
  readonly #checks = new Map<string, () => Check>();

  /** Adds or replaces a check. It is asked at each request and must not block. */
  set(name: string, check: () => Check): void {
    this.#checks.set(name, check);
  }

  remove(name: string): void {
    this.#checks.delete(name);
  }

  report(): { ready: boolean; checks: Record<string, Check> } {
    const checks = Object.fromEntries([...this.#checks].map(([name, check]) => [name, check()]));
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  }
}

/** A Temporal Worker is well only while it polls. */
export const workerCheck = (worker: Pick<Worker, 'getState'>) => (): Check => {
  const state = worker.getState();
  return { ok: state === 'RUNNING', detail: state };
};

export interface HealthServer {
  port: number;
  close(): Promise<void>;
}

/**
 * GET /healthz: 200 while the process turns its event loop (a failed Worker ends the process, so there is nothing else to tell);
 * /readyz: 200 or 503 with every check; /metrics: Prometheus text.
 */
export const serveHealth = async (
  port: number,
  health: Health,
  metrics: () => Promise<string>,
): Promise<HealthServer> => {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    if (request.url === '/healthz') return answer(200, 'text/plain', 'ok\n');
    if (request.url === '/readyz') {
      const report = health.report();
      return answer(report.ready ? 200 : 503, 'application/json', `${JSON.stringify(report, null, 2)}\n`);
    }
    if (request.url === '/metrics') {
      metrics().then(
        (body) => answer(200, 'text/plain; version=0.0.4; charset=utf-8', body),
        (error: unknown) => answer(500, 'text/plain', `${String(error)}\n`),
      );
      return;
    }
    answer(404, 'text/plain', 'Paths: /healthz /readyz /metrics\n');
  });
  await listening(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
};

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => resolve());
  });
