import { z } from 'zod';
import { text, texts, whole } from './primitives.ts';

const requirement = z.looseObject({ key: text, operator: text, values: z.array(text).optional() });

const nodeTerm = z.looseObject({
  matchExpressions: z.array(requirement).optional(),
  matchFields: z.array(requirement).optional(),
});

const labelSelector = z.looseObject({
  matchLabels: texts.optional(),
  matchExpressions: z.array(requirement).optional(),
});

const podTerm = z.looseObject({
  labelSelector: labelSelector.optional(),
  namespaceSelector: labelSelector.optional(),
  namespaces: z.array(text).optional(),
  topologyKey: text,
});

const podAffinity = z.looseObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(podTerm).optional(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.looseObject({ weight: whole, podAffinityTerm: podTerm }))
    .optional(),
});

export const affinity = z.looseObject({
  nodeAffinity: z
    .looseObject({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .looseObject({ nodeSelectorTerms: z.array(nodeTerm).optional() })
        .optional(),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.looseObject({ weight: whole, preference: nodeTerm }))
        .optional(),
    })
    .optional(),
  podAffinity: podAffinity.optional(),
  podAntiAffinity: podAffinity.optional(),
});

export const tolerations = z.array(
  z.looseObject({
    key: text.optional(),
    operator: text.optional(),
    value: text.optional(),
    effect: text.optional(),
    tolerationSeconds: whole.optional(),
  }),
);

export const topologySpreadConstraints = z.array(
  z.looseObject({
    maxSkew: whole,
    topologyKey: text,
    whenUnsatisfiable: text,
    labelSelector: labelSelector.optional(),
    nodeAffinityPolicy: text.optional(),
    nodeTaintsPolicy: text.optional(),
  }),
);
