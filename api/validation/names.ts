import type { Rule } from './cause.ts';
import { invalid, isLabel, when } from './cause.ts';

/** Room that names of files (255 bytes: "<namespace>_<name>" and a suffix) and of the run token's Lease leave. */
const NAME_MAX = 200;
const LABEL_MAX = 63;

/** Names that become names of other things. */
export const nameRules: Rule = ({ metadata, spec }) => {
  const length = (metadata?.namespace ?? '').length + 1 + (metadata?.name ?? '').length;
  const { hostname } = spec;
  return [
    ...when(length > NAME_MAX, () =>
      invalid(
        'metadata.name',
        `name and namespace have ${length - 1} characters together, at most ${NAME_MAX - 1} fit the guest's files: choose a shorter name`,
      ),
    ),
    ...when(hostname !== undefined && hostname !== '' && (!isLabel(hostname) || hostname.length > LABEL_MAX), () =>
      invalid(
        'spec.hostname',
        `"${hostname}" is no host name: use at most ${LABEL_MAX} lower-case letters, digits and hyphens`,
      ),
    ),
  ];
};
