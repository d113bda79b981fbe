import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { kubeClient } from '../../../activities/kube/client.ts';
import { runLeaderElection } from '../../../workers/controller/leader.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { until } from '../../support/until.ts';

let server: TestApiServer;
beforeAll(async () => {
  server = await startApiServer();
}, 120_000);
afterAll(() => server.close(), 30_000);

/** A candidate for the Lease; `leads` tells whether it leads now. */
const candidate = (identity: string, durationMs = 6_000) => {
  const stop = new AbortController();
  let term: AbortSignal | undefined;
  const options = {
    kube: kubeClient(server.rest),
    namespace: 'default',
    name: 'leader',
    identity,
    durationMs,
    log: pino({ level: 'silent' }),
  };
  const ended = runLeaderElection(options, (signal) => (term = signal), stop.signal);
  return {
    leads: () => term !== undefined && !term.aborted,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
};

test('one leads; when it is gone another takes over; the same name takes its own Lease back at once', async () => {
  const first = candidate('first');
  await until('the first leads', first.leads);
  const second = candidate('second');
  await first.stop();
  expect(first.leads()).toBe(false);
  const again = candidate('first');
  await until('the first leads again', again.leads, { timeoutMs: 4_000 });
  expect(second.leads()).toBe(false);
  await again.stop();
  await until('the second leads', second.leads, { timeoutMs: 30_000 });
  await second.stop();
});

test('a leader that cannot renew its Lease stops leading before another may take it', async () => {
  const leader = candidate('cut-off');
  await until('it leads', leader.leads, { timeoutMs: 30_000 });
  await server.kill();
  await until('it leads no longer', () => !leader.leads(), { timeoutMs: 30_000 });
  await server.start();
  await until('it leads again', leader.leads, { timeoutMs: 30_000 });
  await leader.stop();
}, 120_000);
