import { z } from 'zod';
import type { FailureInfo } from '../../../api/contract/failures.ts';
import { isFailureType } from '../../../api/contract/failures.ts';
import { MIGRATION_CHANNELS } from '../../../api/launcher/migration.ts';
import type { MigrationView } from '../../../api/launcher/migration.ts';
import { migrationView } from '../launcher-client/migration-schemas.ts';

/** What the frames between node workers hold. */

export const HAND_OVER = 'handOver';

/** First frame of whoever connects. Names are checked against what this node knows; nothing else is believed. */
export const header = z.object({
  migrationUid: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  channel: z.enum([...MIGRATION_CHANNELS, HAND_OVER]),
  /** It understands frames that say what was taken; a worker of an earlier release does not. */
  window: z.exactOptional(z.boolean()),
});
export type Header = z.infer<typeof header>;

/** First frame of the answer. */
export const greeting = z.union([
  z.object({ accepted: z.literal(true), window: z.exactOptional(z.boolean()) }),
  z.object({ accepted: z.literal(false), reason: z.string().max(1000) }),
]);
export type Greeting = z.infer<typeof greeting>;

/** On a hand-over connection: one answer to each request, in order. `ping` only shows that the other side lives. */
export const handOverRequest = z.object({ method: z.enum(['ping', 'inspect', 'resume']) });
export type HandOverRequest = z.infer<typeof handOverRequest>;

const failureInfo = z
  .object({ type: z.string(), message: z.string() })
  .transform(({ type, message }): FailureInfo => ({ type: isFailureType(type) ? type : 'Unknown', message }));

export const handOverReply = z.object({
  view: z.exactOptional(migrationView),
  failure: z.exactOptional(failureInfo),
});
export interface HandOverReply {
  view?: MigrationView;
  failure?: FailureInfo;
}

/** A header and an answer are a few hundred bytes; a view with its numbers about a thousand. */
export const MAX_HEADER_BYTES = 1024;
export const MAX_MESSAGE_BYTES = 64 * 1024;
