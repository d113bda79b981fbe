import type { ClusterConfig } from '../../../../api/cluster-config/index.ts';
import type { Cause, Rule } from '../../../../api/validation/cause.ts';
import { configured, instance } from '../../../support/instances.ts';

/** Causes as "Invalid spec.x". */
export const short = (causes: Cause[]): string[] =>
  causes.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`);

/** What a rule says to a spec: any JSON. */
export const told = (rule: Rule, spec: object, config: ClusterConfig = configured()): string[] =>
  short(rule(instance(spec), config));

/** The same, when only the domain matters. */
export const ofDomain = (rule: Rule, domain: object, spec: object = {}, config?: ClusterConfig): string[] =>
  told(rule, { ...spec, domain: { devices: {}, ...domain } }, config);
