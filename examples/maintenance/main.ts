import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { virtflowClient } from '../../client/index.ts';
import { maintenanceService } from './service.ts';

/** `node examples/maintenance/main.ts`: Temporal by its environment configuration (TEMPORAL_ADDRESS, TEMPORAL_TLS_…), PORT (8090). */
const { connectionOptions, namespace = 'virtflow' } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const service = maintenanceService(virtflowClient(new Client({ connection, namespace })));
service.listen(Number(process.env['PORT'] ?? 8090), '127.0.0.1');
process.once('SIGTERM', () => {
  service.close(() => void connection.close());
  service.closeIdleConnections();
});
