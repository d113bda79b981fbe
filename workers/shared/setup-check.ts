import { setTimeout as delay } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../api/contract/search-attributes.ts';
import { grpcCode } from './grpc.ts';
import type { Logger } from './logging.ts';
import type { Temporal } from './temporal.ts';

/** The command that creates what is missing, as reported to people. */
const REMEDY = 'Run once, with the same TEMPORAL_ settings: virtflow temporal setup';

const RETRY_MS = 5_000;

/**
 * What Temporal lacks, in words; undefined when namespace and search attributes are there. Asked by a visibility query per attribute: unlike the
 * operator API it works on every kind of server, Temporal Cloud included, and needs no more than the worker's own permissions.
 */
export const missingSetup = async ({
  connection,
  namespace,
}: Pick<Temporal, 'connection' | 'namespace'>): Promise<string | undefined> => {
  const missing: string[] = [];
  for (const attribute of SEARCH_ATTRIBUTES) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${attribute} = "setup-check"` });
    } catch (error) {
      const code = grpcCode(error);
      if (code === 'NOT_FOUND') return `Temporal has no namespace ${namespace}. ${REMEDY}`;
      if (code !== 'INVALID_ARGUMENT') throw error;
      missing.push(attribute);
    }
  }
  if (missing.length === 0) return undefined;
  return `Temporal's namespace ${namespace} lacks the search attributes ${missing.join(', ')}. ${REMEDY}`;
};

/** Waits until the set-up is there; `report` is told what is missing whenever that changes. */
export const awaitSetup = async (
  temporal: Pick<Temporal, 'connection' | 'namespace'>,
  report: (missing: string | undefined) => void,
  log: Logger,
  signal: AbortSignal,
): Promise<void> => {
  let told: string | undefined;
  for (;;) {
    let missing: string | undefined;
    try {
      missing = await missingSetup(temporal);
    } catch (error) {
      missing = `Temporal cannot be asked for its search attributes: ${error instanceof Error ? error.message : String(error)}`;
    }
    report(missing);
    if (missing === undefined) return;
    if (missing !== told) log.error(missing);
    told = missing;
    await delay(RETRY_MS, undefined, { signal });
  }
};
