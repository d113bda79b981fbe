import { setTimeout as pause } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { status as grpcStatus } from '@grpc/grpc-js';
import { SEARCH_ATTRIBUTES } from '../../api/contract/search-attributes.ts';
import { UserError } from '../errors.ts';
import type { TemporalTarget } from './connection.ts';

/** IndexedValueType of Temporal's API: a Keyword. */
const KEYWORD = 2;
const SECONDS_PER_DAY = 86_400;
/** A new namespace and new search attributes take up to a cache refresh (some 10 s) to be seen by every part of the server. */
const VISIBLE_WITHIN_MS = 60_000;

/** Temporal Cloud's addresses end so; its namespaces are managed through another API. */
export const isCloud = (address: string): boolean => /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/.test(address);

/** Creates the namespace and the search attributes where missing, and says what it did, one line each. */
export async function setUpServer(temporal: TemporalTarget, retentionDays: number): Promise<string[]> {
  const done = [await ensureNamespace(temporal, retentionDays)];
  const before = await registered(temporal);
  const missing = SEARCH_ATTRIBUTES.filter((name) => !before.has(name));
  if (missing.length > 0)
    await temporal.connection.operatorService.addSearchAttributes({
      namespace: temporal.namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
  await untilRegistered(temporal);
  done.push(missing.length > 0 ? `search attributes added: ${missing.join(', ')}` : 'search attributes are registered');
  return done;
}

async function ensureNamespace(
  { connection, namespace, address }: TemporalTarget,
  retentionDays: number,
): Promise<string> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'virtflow: operations of virtual machines',
      workflowExecutionRetentionPeriod: { seconds: retentionDays * SECONDS_PER_DAY } as never,
    });
    return `namespace "${namespace}" created on ${address}, retention ${retentionDays} days`;
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== grpcStatus.ALREADY_EXISTS) throw error;
    return `namespace "${namespace}" exists on ${address}`;
  }
}

/** Names of the custom Keywords of the namespace; empty while a new namespace is not visible yet. */
async function registered({ connection, namespace }: TemporalTarget): Promise<Set<string>> {
  const until = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    try {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      return new Set(
        Object.entries(customAttributes ?? {}).flatMap(([name, type]) => (Number(type) === KEYWORD ? [name] : [])),
      );
    } catch (error) {
      if (!isGrpcServiceError(error) || error.code !== grpcStatus.NOT_FOUND || Date.now() > until) throw error;
      await pause(500);
    }
  }
}

async function untilRegistered(temporal: TemporalTarget): Promise<void> {
  const until = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    const names = await registered(temporal);
    const missing = SEARCH_ATTRIBUTES.filter((name) => !names.has(name));
    if (missing.length === 0) return;
    if (Date.now() > until)
      throw new UserError(
        `the server accepted the search attributes but does not list ${missing.join(', ')}: does one exist with another type?`,
      );
    await pause(500);
  }
}
