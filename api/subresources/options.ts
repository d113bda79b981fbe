import { z } from 'zod';
import { fieldIssues } from '../schemas/issues.ts';
import { invalid, unsupported } from '../validation/cause.ts';
import type { Status } from './status.ts';
import { invalidFields } from './status.ts';

/** Go programs write null for what is absent. */
const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => (value === null ? undefined : value));

const dryRun = optional(z.array(z.string()));
/** KubeVirt takes 64 bits; more than JSON can hold makes no sense as seconds. */
const seconds = optional(z.number().int());

/** Bodies of requests as KubeVirt has them. Fields that are not known are left out, as Kubernetes does with options. */
const OPTIONS = {
  start: z.object({ paused: optional(z.boolean()), dryRun }),
  stop: z.object({ gracePeriod: seconds, dryRun }),
  restart: z.object({ gracePeriodSeconds: seconds, dryRun }),
  migrate: z.object({ addedNodeSelector: optional(z.record(z.string(), z.string())), dryRun }),
  'evacuate/cancel': z.object({ evacuationNodeName: optional(z.string()), dryRun }),
  freeze: z.object({ unfreezeTimeout: optional(z.string()), dryRun }),
  /** Of what takes no other option. */
  other: z.object({ dryRun }),
};

/** What an action is told. */
export type OptionsOf<K extends keyof typeof OPTIONS> = Partial<Omit<z.output<(typeof OPTIONS)[K]>, 'dryRun'>> & {
  dryRun?: boolean;
};

/**
 * The options in a body (undefined: there is none), or why they cannot be taken. `dryRun`: the request is looked at, and nothing is changed.
 * @param query what `?dryRun=` says, if anything
 */
export const readOptions = <K extends keyof typeof OPTIONS>(
  kind: K,
  body: unknown,
  query: readonly string[] = [],
): { options: OptionsOf<K>; dryRun: boolean; refusal?: undefined } | { refusal: Status } => {
  const parsed = OPTIONS[kind].safeParse(body ?? {});
  if (!parsed.success) {
    const issues = fieldIssues(parsed.error);
    const text = issues.map(({ field, message }) => `${field || 'body'}: ${message}`).join('; ');
    const causes = issues.map(({ field, message }) => invalid(field, message));
    return { refusal: invalidFields(`Can not unmarshal Request body to struct, error: ${text}`, causes, 400) };
  }
  const { dryRun: directives, ...options } = parsed.data;
  const asked = [...(directives ?? []), ...query];
  const unknown = asked.filter((directive) => directive !== 'All');
  if (unknown.length > 0) {
    const causes = [unsupported('dryRun', `"${unknown.join('", "')}" is not known: use All`)];
    return { refusal: invalidFields('the options of the request are invalid: dryRun', causes) };
  }
  return { options, dryRun: asked.length > 0 };
};
