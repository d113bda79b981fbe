import { z } from 'zod';
import { instanceSpec } from './instance-spec.ts';
import { flag, metadata, text, texts, whole } from './primitives.ts';

/** What virtflow reads of a VirtualMachineInstanceReplicaSet. */
export const replicaSet = z.looseObject({
  metadata,
  spec: z.looseObject({
    replicas: whole.nonnegative().optional(),
    paused: flag.optional(),
    selector: z.looseObject({
      matchLabels: texts.optional(),
      matchExpressions: z
        .array(z.looseObject({ key: text, operator: text, values: z.array(text).optional() }))
        .optional(),
    }),
    template: z.looseObject({ metadata: metadata.optional(), spec: instanceSpec.optional() }),
  }),
});
