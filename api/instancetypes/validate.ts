import type { Cause } from '../validation/cause.ts';
import { invalid, when } from '../validation/cause.ts';
import { deprecatedTopology, preferredTopology, SPREADS, spreadOf, TOPOLOGIES } from './topology.ts';
import type { InstancetypeSpec, PreferenceSpec } from './types.ts';

const isOneOf = (word: string, words: readonly string[]): boolean => words.includes(word);

/** Every reason to refuse an instance type. */
export const instancetypeCauses = ({ cpu, memory }: InstancetypeSpec): Cause[] => {
  const { overcommitPercent = 0, hugepages } = memory;
  const field = 'spec.memory.overcommitPercent';
  return [
    ...when(cpu.guest < 1, () => invalid('spec.cpu.guest', 'a guest has at least one vCPU')),
    ...when(overcommitPercent < 0 || overcommitPercent > 100, () =>
      invalid(field, `${overcommitPercent} is no percentage: choose 0 to 100`),
    ),
    ...when(overcommitPercent !== 0 && hugepages !== undefined, () =>
      invalid(field, 'huge pages cannot be overcommitted: drop overcommitPercent or hugepages'),
    ),
  ];
};

/** Every reason to refuse a preference. */
export const preferenceCauses = (spec: PreferenceSpec): Cause[] => {
  const word = spec.cpu?.preferredCPUTopology;
  if (word !== undefined && !isOneOf(word, TOPOLOGIES) && deprecatedTopology(word) === undefined)
    return [invalid('spec.cpu.preferredCPUTopology', `"${word}" is unknown: use ${TOPOLOGIES.join(', ')}`)];
  return preferredTopology(spec) === 'spread' ? spreadOptionCauses(spec) : [];
};

const spreadOptionCauses = (spec: PreferenceSpec): Cause[] => {
  const named = spec.cpu?.spreadOptions?.across;
  const { across, ratio } = spreadOf(spec);
  return [
    ...when(named !== undefined && !isOneOf(named, SPREADS), () =>
      invalid('spec.cpu.spreadOptions.across', `"${named}" is unknown: use ${SPREADS.join(', ')}`),
    ),
    ...when(across === 'CoresThreads' && ratio !== 2, () =>
      invalid('spec.cpu.spreadOptions.ratio', 'a core has two threads: the ratio of CoresThreads is 2'),
    ),
    ...when(ratio < 1, () => invalid('spec.cpu.spreadOptions.ratio', 'choose a ratio of at least 1')),
  ];
};

/** What is taken and should be said otherwise by now. */
export const instancetypeWarnings = ({ launchSecurity }: InstancetypeSpec): Cause[] =>
  when(launchSecurity !== undefined, () =>
    invalid('spec.launchSecurity', 'deprecated: set preferredLaunchSecurity of a preference'),
  );

export const preferenceWarnings = ({ cpu }: PreferenceSpec): Cause[] => {
  const word = deprecatedTopology(cpu?.preferredCPUTopology ?? '');
  return word === undefined ? [] : [invalid('spec.cpu.preferredCPUTopology', `deprecated: write ${word}`)];
};
