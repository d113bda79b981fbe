import { z } from 'zod';
import type { MigrationNumbers, MigrationOptions, MigrationOutcome } from '../../api/launcher/migration.ts';

/** What a launcher keeps on disk of each migration that it took part in, by the migration's uid. */

const number = z.number();
const mode = z.enum(['PreCopy', 'PostCopy', 'Paused']);

export const options: z.ZodType<MigrationOptions> = z.object({
  bandwidth: z.exactOptional(number),
  completionTimeoutPerGiB: number,
  progressTimeout: number,
  maxDowntimeMs: z.exactOptional(number),
  allowAutoConverge: z.boolean(),
  allowPostCopy: z.boolean(),
  allowWorkloadDisruption: z.boolean(),
  unsafe: z.boolean(),
});

const numbers: z.ZodType<MigrationNumbers> = z.object({
  mode,
  elapsedMs: number,
  totalBytes: number,
  processedBytes: number,
  remainingBytes: number,
  iterations: number,
  dirtyRate: z.exactOptional(number),
  transferRate: z.exactOptional(number),
  throttle: z.exactOptional(number),
  downtimeMs: z.exactOptional(number),
});

const outcome: z.ZodType<MigrationOutcome> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sourceGone'), numbers: z.exactOptional(numbers) }),
  z.object({
    kind: z.literal('sourceActive'),
    cause: z.enum(['aborted', 'failed', 'timeout', 'never']),
    message: z.string(),
    numbers: z.exactOptional(numbers),
  }),
  z.object({ kind: z.literal('unknown'), message: z.string() }),
]);

const source = z.object({
  role: z.literal('source'),
  options,
  /** Host CPUs that the target's Pod owns. */
  targetCpus: z.array(number),
  /** The guest was paused before: it stays so in the target. */
  guestPaused: z.boolean(),
  mode,
  /** The guest's CPUs were stopped to switch it over, in the present attempt. */
  switched: z.boolean(),
  /** Once the switch to post-copy was ordered, the source must never run the guest again. */
  postCopy: z.boolean(),
  /** Somebody wants it to end. */
  stop: z.enum(['aborted', 'timeout']).optional(),
  /** How it ended; absent: not yet. */
  outcome: outcome.optional(),
  /** It ended here, and the guest is as it was before. */
  settled: z.boolean(),
});
export type SourceRecord = z.infer<typeof source>;

const target = z.object({
  role: z.literal('target'),
  /** The guest ran here. */
  resumed: z.boolean(),
  finalized: z.boolean(),
  /** What came in is to be destroyed, whenever it is seen. */
  abandoned: z.boolean(),
});
export type TargetRecord = z.infer<typeof target>;

export const migrationRecords = z.record(z.string(), z.discriminatedUnion('role', [source, target]));
export type MigrationRecords = z.infer<typeof migrationRecords>;

/** How migrations bear on the domain of this launcher. */
export interface Moves {
  /** Uid of the migration that brings the domain; its guest has not run here. */
  readonly incoming?: string;
  /** Uid of the migration that takes it away; how that ends is open. */
  readonly leaving?: string;
  /** Uid of the migration that failed, and from which the guest is not quite back. */
  readonly returning?: string;
  /** Uid of the migration that took it away. */
  readonly left?: string;
  /** Uid of the migration that brought it. */
  readonly brought?: string;
  /** We have paused the guest so that its migration comes to an end. */
  readonly pausedToConverge?: boolean;
}

export function movesOf(records: MigrationRecords = {}): Moves {
  let moves: Moves = {};
  for (const [uid, record] of Object.entries(records)) {
    if (record.role === 'target') moves = { ...moves, ...(record.resumed ? { brought: uid } : { incoming: uid }) };
    else if (record.outcome === undefined)
      moves = { ...moves, leaving: uid, pausedToConverge: record.mode === 'Paused' };
    else if (record.outcome.kind === 'sourceGone') moves = { ...moves, left: uid };
    else if (record.outcome.kind === 'sourceActive' && !record.settled) moves = { ...moves, returning: uid };
  }
  return moves;
}
