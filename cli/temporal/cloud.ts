import { CloudOperationsClient, CloudOperationsConnection } from '@temporalio/cloud';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { SEARCH_ATTRIBUTES } from '../../api/contract/search-attributes.ts';
import { UserError } from '../errors.ts';

/** Custom search attribute type of the Cloud Operations API: a Keyword. */
const KEYWORD = 2;
const API_VERSION = '2024-10-01-00';

/** Adds the search attributes (and the retention) to a namespace of Temporal Cloud. @throws UserError */
export async function setUpCloud(retentionDays: number): Promise<string[]> {
  const { namespace } = loadClientConnectConfig();
  const apiKey = process.env['TEMPORAL_API_KEY'];
  if (!namespace || !apiKey)
    throw new UserError(
      'Temporal Cloud needs TEMPORAL_NAMESPACE (name.account) and TEMPORAL_API_KEY of a user who may change the namespace.',
    );
  const connection = await CloudOperationsConnection.connect({ apiKey });
  try {
    const { cloudService } = new CloudOperationsClient({ connection, apiVersion: API_VERSION });
    const { namespace: found } = await cloudService.getNamespace({ namespace });
    if (!found?.spec)
      throw new UserError(
        `Temporal Cloud has no namespace "${namespace}": create it there first, then run this again.`,
      );
    const attributes = {
      ...found.spec.searchAttributes,
      ...Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD])),
    };
    await cloudService.updateNamespace({
      namespace,
      resourceVersion: found.resourceVersion ?? null,
      spec: { ...found.spec, retentionDays, searchAttributes: attributes },
    });
    return [
      `namespace "${namespace}" of Temporal Cloud: search attributes ${SEARCH_ATTRIBUTES.join(', ')}, retention ${retentionDays} days`,
    ];
  } finally {
    connection.close();
  }
}
