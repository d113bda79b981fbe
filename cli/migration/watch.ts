import { setTimeout as pause } from 'node:timers/promises';
import { defaultPayloadConverter } from '@temporalio/common';
import { ServiceError, WorkflowNotFoundError, isGrpcServiceError } from '@temporalio/client';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { operationStatus, type OperationStatus } from '../../api/contract/operations.ts';
import { migrationId, type ObjectRef } from '../../api/contract/refs.ts';
import type { MigrationProgress } from '../../api/launcher/migration.ts';
import { connectTemporal } from '../temporal/connection.ts';
import { asking, readOperation, whySilent, type Told } from '../temporal/operations.ts';

/** What Temporal tells of a migration under way; everything may be absent, and following goes on without. */
export interface Heard {
  status?: Told;
  progress?: MigrationProgress;
  /** Why nothing (new) is heard. */
  silence?: string;
}

/** Listens to a migration's workflow in the background, so that nobody who shows progress waits for Temporal. */
export interface Watch {
  heard(): Heard;
  /** The migration's last word, once it is over: asks anew, if Temporal can be reached. */
  lastWord(): Promise<Told | undefined>;
  close(): Promise<void>;
}

const ASK_EVERY_MS = 1_000;
const CONNECT_AGAIN_AFTER_MS = 5_000;

/** Begins to listen. */
export function watchMigration(migration: ObjectRef): Watch {
  const over = new AbortController();
  const id = migrationId(migration);
  let heard: Heard = {};
  let reached: Client | undefined;
  const listen = async (): Promise<void> => {
    const { client, connection } = await connectTemporal('2s');
    try {
      for (reached = client; ; await pause(ASK_EVERY_MS, undefined, { signal: over.signal })) {
        const { status = heard.status, ...news } = await hear(client, id);
        heard = { ...news, ...(status && { status }) };
      }
    } finally {
      reached = undefined;
      await connection.close();
    }
  };
  const listening = (async () => {
    while (!over.signal.aborted)
      try {
        await listen();
      } catch (error) {
        heard = { ...(heard.status && { status: heard.status }), silence: headOf(error) };
        await pause(CONNECT_AGAIN_AFTER_MS, undefined, { signal: over.signal }).catch(() => undefined);
      }
  })();
  return {
    heard: () => heard,
    lastWord: async () => (reached && (await lastWord(reached, id))) ?? heard.status,
    close: async () => {
      over.abort();
      await listening;
    },
  };
}

/** What is wrong, without what to do about it: the migration goes on all the same. */
const headOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split(/ \(|: /)[0] ?? '';

async function hear(client: Client, id: string): Promise<Heard> {
  const handle = client.workflow.getHandle(id);
  try {
    const [progress, status] = await Promise.all([progressOf(client, handle), statusOf(client, handle)]);
    return { ...(progress && { progress }), ...(typeof status === 'string' ? { silence: status } : { status }) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { silence: 'the controller has not taken it up yet' };
    throw error;
  }
}

/** The step's own status, or why it cannot be had. */
async function statusOf(client: Client, handle: WorkflowHandle): Promise<OperationStatus | string> {
  try {
    return await asking(client, () => handle.query(operationStatus));
  } catch (error) {
    const silence = whySilent(error);
    if (silence === undefined) throw error;
    return silence;
  }
}

/** Details of the newest heartbeat of the activity that carries the migration out. */
async function progressOf(client: Client, handle: WorkflowHandle): Promise<MigrationProgress | undefined> {
  const { raw } = await asking(client, () => handle.describe());
  const activity = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'migrateVMI');
  const [payload] = activity?.heartbeatDetails?.payloads ?? [];
  return payload == null ? undefined : progressIn(defaultPayloadConverter.fromPayload<unknown>(payload));
}

/** Heartbeat details of another release may be something else: then there is no progress to show. */
export const progressIn = (details: unknown): MigrationProgress | undefined =>
  typeof details === 'object' && details !== null && 'totalBytes' in details && 'remainingBytes' in details
    ? (details as MigrationProgress)
    : undefined;

/** What a migration that is over has left; undefined when Temporal does not say: the object then tells the end, with less detail. */
async function lastWord(client: Client, id: string): Promise<Told | undefined> {
  try {
    const execution = await asking(client, () => client.workflow.getHandle(id).describe());
    return (await readOperation(client, execution)).status;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof ServiceError || isGrpcServiceError(error))
      return undefined;
    throw error;
  }
}
