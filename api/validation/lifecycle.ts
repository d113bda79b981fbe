import type { Rule } from './cause.ts';
import { invalid, when } from './cause.ts';

const ARCHITECTURES = ['amd64', 'arm64', 's390x'];
const EVICTION = ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'];

export const lifecycleRules: Rule = ({ spec }) => {
  const { architecture = '', evictionStrategy, startStrategy, terminationGracePeriodSeconds: grace = 0 } = spec;
  return [
    ...when(grace < 0, () =>
      invalid(
        'spec.terminationGracePeriodSeconds',
        `${grace} is negative: 0 destroys the guest at once, absent means 30`,
      ),
    ),
    ...when(!ARCHITECTURES.includes(architecture), () =>
      invalid('spec.architecture', `"${architecture}" is unknown: use ${ARCHITECTURES.join(', ')}`),
    ),
    ...when(evictionStrategy !== undefined && !EVICTION.includes(evictionStrategy), () =>
      invalid('spec.evictionStrategy', `"${evictionStrategy}" is unknown: use ${EVICTION.join(', ')}`),
    ),
    ...when(startStrategy !== undefined && startStrategy !== 'Paused', () =>
      invalid('spec.startStrategy', `"${startStrategy}" is unknown: use Paused, or drop it`),
    ),
  ];
};
