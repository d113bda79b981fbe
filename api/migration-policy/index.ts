import type { MigrationConfiguration } from '../cluster-config/index.ts';
import type { MigrationPolicy } from './types.ts';

export type { MigrationPolicy } from './types.ts';

type Labels = Record<string, string>;

/** Whom a migration concerns. */
export interface PolicySubject {
  instanceLabels: Labels;
  namespaceLabels: Labels;
}

/** Settings of the cluster's configuration that a policy may have its own values for. */
const OVERRIDABLE = [
  'allowAutoConverge',
  'allowPostCopy',
  'allowWorkloadDisruption',
  'bandwidthPerMigration',
  'completionTimeoutPerGiB',
  'maxDowntimeMs',
] as const satisfies (keyof MigrationPolicy['spec'])[];

/**
 * The policy for a VMI, by KubeVirt's rules: all labels of both selectors must be there; of several the one that names most labels counts, then the
 * one that names most of the VMI's, then the first by name. Empty selectors match every VMI, a policy without selectors none.
 */
export const matchingPolicy = (policies: MigrationPolicy[], subject: PolicySubject): MigrationPolicy | undefined =>
  policies.filter((policy) => matches(policy, subject)).sort(byPrecision)[0];

const matches = (
  { spec: { selectors } }: MigrationPolicy,
  { instanceLabels, namespaceLabels }: PolicySubject,
): boolean =>
  selectors !== undefined &&
  has(instanceLabels, selectors.virtualMachineInstanceSelector) &&
  has(namespaceLabels, selectors.namespaceSelector);

const has = (labels: Labels, wanted: Labels = {}): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

const byPrecision = (one: MigrationPolicy, other: MigrationPolicy): number => {
  const [ours, theirs] = [precision(one), precision(other)];
  return theirs.all - ours.all || theirs.ofInstance - ours.ofInstance || (nameOf(one) < nameOf(other) ? -1 : 1);
};

const precision = ({ spec: { selectors } }: MigrationPolicy): { all: number; ofInstance: number } => {
  const ofInstance = Object.keys(selectors?.virtualMachineInstanceSelector ?? {}).length;
  return { all: ofInstance + Object.keys(selectors?.namespaceSelector ?? {}).length, ofInstance };
};

const nameOf = ({ metadata }: MigrationPolicy): string => metadata?.name ?? '';

/** The cluster's settings with those that the policy has its own values for. */
export const withPolicy = (
  migrations: MigrationConfiguration,
  policy: MigrationPolicy | undefined,
): MigrationConfiguration => {
  const own = OVERRIDABLE.filter((key) => policy?.spec[key] !== undefined);
  return { ...migrations, ...Object.fromEntries(own.map((key) => [key, policy?.spec[key]])) };
};
