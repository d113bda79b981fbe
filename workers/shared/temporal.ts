import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../api/contract/search-attributes.ts';
import type { Logger } from './logging.ts';

export interface Temporal {
  connection: NativeConnection;
  client: Client;
  namespace: string;
}

/** Between two attempts to reach Temporal at start, in ms. */
const RETRY_MS = 2_000;

/**
 * Connects by Temporal's standard environment configuration (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_CLIENT_CERT_PATH, … or its TOML
 * file) and keeps trying until the server answers; `report` is told why it does not, whenever the reason changes. Later outages are bridged by the
 * connection itself.
 */
export const connectTemporal = async (
  log: Logger,
  signal: AbortSignal,
  report: (reason: string) => void = () => {},
): Promise<Temporal> => {
  const { connectionOptions, namespace = DEFAULT_TEMPORAL_NAMESPACE } = loadClientConnectConfig();
  const address = connectionOptions.address ?? 'localhost:7233';
  let told: string | undefined;
  for (;;) {
    try {
      const connection = await NativeConnection.connect(connectionOptions);
      log.info({ address, namespace }, 'connected to Temporal');
      return { connection, client: new Client({ connection, namespace }), namespace };
    } catch (error) {
      const reason = `Temporal at ${address} does not let us in: ${error instanceof Error ? error.message : String(error)}. Check TEMPORAL_ADDRESS and the TEMPORAL_TLS settings; it is tried again.`;
      if (reason !== told) log.warn({ err: error }, reason);
      report((told = reason));
      await delay(RETRY_MS, undefined, { signal });
    }
  }
};
