import { z } from 'zod';
import { metadata, text, texts } from './primitives.ts';

/** What virtflow reads of a VMIM. */
export const migration = z.looseObject({
  metadata,
  spec: z.looseObject({
    vmiName: text.optional(),
    priority: text.optional(),
    addedNodeSelector: texts.optional(),
    sendTo: z.looseObject({ migrationID: text.optional(), connectURL: text.optional() }).optional(),
    receive: z.looseObject({ migrationID: text.optional() }).optional(),
  }),
  status: z
    .looseObject({
      phase: text.optional(),
      conditions: z.array(z.looseObject({ type: text, status: text })).optional(),
      phaseTransitionTimestamps: z.array(z.looseObject({ phase: text, phaseTransitionTimestamp: text })).optional(),
      migrationState: z.looseObject({ sourceNode: text.optional() }).optional(),
    })
    .optional(),
});
