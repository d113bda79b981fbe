import { z } from 'zod';

/** Parts that the schemas share. Objects are loose: fields of newer releases pass through. */
export const text = z.string();
export const texts = z.record(text, text);
export const flag = z.boolean();
export const whole = z.number().int();
/** JSON carries quantities as text or as a number; they are read as text. */
export const quantity = z.union([
  z.string().regex(/^[+-]?(\d+|\d+\.\d*|\.\d+)([eE][+-]?\d+|[numkKMGTPE]i?)?$/, 'expected a quantity such as 512Mi'),
  z.number().transform(String),
]);
export const quantities = z.record(text, quantity);
/** Presence says it all; what is inside is not read. */
export const present = z.looseObject({});

export const metadata = z.looseObject({
  name: text.optional(),
  namespace: text.optional(),
  uid: text.optional(),
  resourceVersion: text.optional(),
  generation: whole.optional(),
  creationTimestamp: text.optional(),
  deletionTimestamp: text.optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  finalizers: z.array(text).optional(),
  ownerReferences: z
    .array(
      z.looseObject({
        apiVersion: text,
        kind: text,
        name: text,
        uid: text,
        controller: flag.optional(),
      }),
    )
    .optional(),
});
