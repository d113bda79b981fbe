import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { MigrationConfiguration } from '../../../api/cluster-config/index.ts';
import type { MigrationPolicy } from '../../../api/migration-policy/index.ts';
import { matchingPolicy, withPolicy } from '../../../api/migration-policy/index.ts';
import { parseMigrationPolicy } from '../../../api/schemas/index.ts';
import { configurationOf, type Departures } from '../configuration.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';

type Labels = Record<string, string>;

/** A case of the set table-migration-policy. */
export interface PolicyCase extends Departures {
  /** null: no map at all. */
  vmiLabels: Labels | null;
  namespaceLabels: Labels | null;
  policies: { name: string; spec: MigrationPolicy['spec'] }[];
  matched: string | null;
  effective: object;
}

export const POLICY_RULES: Rule<PolicyCase>[] = [
  {
    id: 'no-labels-match-no-selector',
    covers: (_, { vmiLabels, policies, matched }) => {
      const policy = policies.find(({ name }) => name === matched);
      return vmiLabels === null && Object.keys(policy?.spec.selectors?.virtualMachineInstanceSelector ?? {}).length > 0;
    },
  },
];

/** Longest pause that KubeVirt aims at by default; virtflow's own is QEMU's, which is no matter of policies. */
const DEFAULT_DOWNTIME_MS = 900;

/** As KubeVirt writes it: what follows from another setting is filled in, quantities are compared as numbers. */
const written = (effective: Partial<MigrationConfiguration>): object => ({
  maxDowntimeMs: DEFAULT_DOWNTIME_MS,
  ...effective,
  allowWorkloadDisruption: effective.allowWorkloadDisruption ?? effective.allowPostCopy,
  bandwidthPerMigration: quantityValue(String(effective.bandwidthPerMigration)),
});

export function comparePolicy(testCase: PolicyCase): Verdict {
  const { vmiLabels, namespaceLabels, policies, matched, effective } = testCase;
  const read = policies.map(({ name, spec }) => parseMigrationPolicy({ metadata: { name }, spec }));
  const ours = matchingPolicy(read, { instanceLabels: vmiLabels ?? {}, namespaceLabels: namespaceLabels ?? {} });
  const settings = withPolicy(configurationOf(testCase).migrations, ours);
  const differences = compareJson(
    { matched: ours?.metadata?.name, effective: written(settings) },
    { ...(matched === null ? {} : { matched }), effective: written(effective) },
  );
  return judge(differences, testCase, POLICY_RULES);
}

export const migrationPolicyTable: OracleSet = {
  name: 'table-migration-policy',
  file: 'table-migration-policy.json',
  ruleIds: POLICY_RULES.map(({ id }) => id),
  judge: (testCase) => comparePolicy(testCase as PolicyCase),
};
