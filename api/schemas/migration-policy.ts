import { z } from 'zod';
import { flag, metadata, quantity, texts, whole } from './primitives.ts';

/** What virtflow reads of a MigrationPolicy. */
export const migrationPolicy = z.looseObject({
  metadata,
  spec: z.looseObject({
    allowAutoConverge: flag.optional(),
    allowPostCopy: flag.optional(),
    allowWorkloadDisruption: flag.optional(),
    bandwidthPerMigration: quantity.optional(),
    /** Seconds. */
    completionTimeoutPerGiB: whole.nonnegative().optional(),
    /** Milliseconds; at most what QEMU takes. */
    maxDowntimeMs: whole.positive().max(2_000_000).optional(),
    selectors: z
      .looseObject({ namespaceSelector: texts.optional(), virtualMachineInstanceSelector: texts.optional() })
      .optional(),
  }),
});
