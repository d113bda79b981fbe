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
 * file) and keeps trying until the server answers. Later outages are bridged by the connection itself.
 */
export const connectTemporal = async (log: Logger, signal: AbortSignal): Promise<Temporal> => {
  const { connectionOptions, namespace = DEFAULT_TEMPORAL_NAMESPACE } = loadClientConnectConfig();
  const address = connectionOptions.address ?? 'localhost:7233';
  for (;;) {
    try {
      const connection = await NativeConnection.connect(connectionOptions);
      log.info({ address, namespace }, 'connected to Temporal');
      return { connection, client: new Client({ connection, namespace }), namespace };
    } catch (error) {
      log.warn(
        { address, err: error },
        'Temporal does not answer; check TEMPORAL_ADDRESS and TLS settings; trying again',
      );
      await delay(RETRY_MS, undefined, { signal });
    }
  }
};
