import { z } from 'zod';
import type {
  MigrationEvent,
  MigrationNumbers,
  MigrationOutcome,
  MigrationProgress,
  MigrationView,
  PrepareTargetReply,
} from '../../../api/launcher/migration.ts';

/** Replies of the migration commands as they come off the wire. Unknown fields are dropped. */

const text = z.string();
const count = z.number().nonnegative();
const optionalCount = z.exactOptional(count);

const progressFields = {
  mode: z.enum(['PreCopy', 'PostCopy', 'Paused']),
  elapsedMs: count,
  totalBytes: count,
  processedBytes: count,
  remainingBytes: count,
  iterations: count,
  dirtyRate: optionalCount,
  transferRate: optionalCount,
  throttle: optionalCount,
};

const progress: z.ZodType<MigrationProgress> = z.object(progressFields);
const numbers: z.ZodType<MigrationNumbers> = z.object({ ...progressFields, downtimeMs: optionalCount });

const outcome: z.ZodType<MigrationOutcome> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sourceGone'), numbers: z.exactOptional(numbers) }),
  z.object({
    kind: z.literal('sourceActive'),
    cause: z.enum(['aborted', 'failed', 'timeout', 'never']),
    message: text,
    numbers: z.exactOptional(numbers),
  }),
  z.object({ kind: z.literal('unknown'), message: text }),
]);

export const migrationEvent: z.ZodType<MigrationEvent> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), progress }),
  z.object({ type: z.literal('ended'), outcome }),
]);

export const migrationView: z.ZodType<MigrationView> = z.object({
  migrationUid: text,
  role: z.enum(['none', 'source', 'target']),
  domain: z.enum(['none', 'incoming', 'active', 'unknown']),
  job: z.boolean(),
  postCopy: z.boolean(),
  resumed: z.boolean(),
  finalized: z.boolean(),
  outcome: z.exactOptional(outcome),
  progress: z.exactOptional(progress),
  copiedDisks: z.exactOptional(z.array(z.object({ volume: text, size: count }))),
});

export const prepareTargetReply: z.ZodType<PrepareTargetReply> = z.object({ libvirtSocket: text.startsWith('/') });

const jsonReply = z.object({ json: text });

/** Parses and checks the JSON of a reply. @throws SyntaxError or ZodError */
export const parseReply = <T>(schema: z.ZodType<T>, reply: unknown): T =>
  schema.parse(JSON.parse(jsonReply.parse(reply).json));
