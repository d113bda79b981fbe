import { Runtime } from '@temporalio/worker';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Logger } from './logging.ts';
import { temporalLogger } from './logging.ts';

/** A registry with Node's own figures. */
export const createRegistry = (): Registry => {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
};

/**
 * Sets up Temporal's runtime for this process, before any connection: its logs go into ours, its metrics to a loopback port (the SDK serves them
 * itself), and signals stay with us.
 */
export const installRuntime = (log: Logger, metricsPort: number): void => {
  Runtime.install({
    logger: temporalLogger(log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      metrics: { prometheus: { bindAddress: `127.0.0.1:${metricsPort}`, countersTotalSuffix: true, unitSuffix: true } },
    },
  });
};

/** Text of our registry and of the SDK's metrics (workflow task failures, schedule-to-start latency, …) as one page. */
export const metricsPage = (register: Registry, temporalMetricsPort: number) => async (): Promise<string> => {
  const own = await register.metrics();
  const response = await fetch(`http://127.0.0.1:${temporalMetricsPort}/metrics`);
  return `${own}\n${await response.text()}`;
};
