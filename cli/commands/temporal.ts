import { Command } from 'commander';
import { setUpCloud } from '../temporal/cloud.ts';
import { withTemporal } from '../temporal/connection.ts';
import { isCloud, setUpServer } from '../temporal/setup.ts';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { RETENTION_DAYS } from '../../api/contract/search-attributes.ts';

/** `virtflow temporal setup`: what virtflow needs of a Temporal server; safe to repeat. */
export const temporalCommand = (): Command =>
  new Command('temporal').description('prepare and check the Temporal server').addCommand(
    new Command('setup')
      .description(
        'create the namespace (with retention) and the search attributes; safe to repeat; for a dev server, your own server and Temporal Cloud',
      )
      .option('--retention-days <days>', 'how long closed operations can be seen', Number, RETENTION_DAYS)
      .addHelpText(
        'after',
        `
Address, namespace, certificates and API key come from the environment (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_CLIENT_CERT_PATH, ...).
Temporal Cloud: the namespace exists already; the search attributes are added through the Cloud Operations API with TEMPORAL_API_KEY.`,
      )
      .action(async ({ retentionDays }: { retentionDays: number }) => {
        const address = loadClientConnectConfig().connectionOptions.address ?? '';
        const done = isCloud(address)
          ? await setUpCloud(retentionDays)
          : await withTemporal((temporal) => setUpServer(temporal, retentionDays));
        for (const line of done) console.log(line);
      }),
  );
