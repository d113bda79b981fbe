import { newInstance, newMigration, newVirtualMachine, type Fresh } from '../../../api/defaults/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { readNewInstance, readNewMigration, readNewVirtualMachine } from '../../../api/validation/index.ts';
import { configurationOf } from '../configuration.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';
import type { AdmissionCase } from './admission.ts';
import { asGoWrites, type Stored } from './stored.ts';

/** A case of the set mutation. */
export interface MutationCase extends Omit<AdmissionCase, 'result'> {
  output: Stored;
}

export const MUTATION_RULES: Rule<MutationCase>[] = [
  { id: 'shape-names-the-field', covers: ({ path, ours }) => path === 'object' && ours === 'refused' },
];

const FRESH: Fresh = { uuid: () => '<uuid>', now: '<timestamp>' };

/** The object as virtflow stores it. */
function stored({ kind, input }: MutationCase, config: ClusterConfig): Stored | undefined {
  if (kind === 'vmim') {
    const { object } = readNewMigration(input);
    return object && newMigration(object);
  }
  if (kind === 'vmi') {
    const { object } = readNewInstance(input);
    return object && newInstance(object, config, FRESH);
  }
  const { object } = readNewVirtualMachine(input);
  return object && newVirtualMachine(object, config, FRESH);
}

export function compareMutation(testCase: MutationCase): Verdict {
  const ours = stored(testCase, configurationOf(testCase));
  const differences =
    ours === undefined
      ? [{ path: 'object', ours: 'refused', theirs: 'stored' }]
      : compareJson(visible(ours, testCase), visible(testCase.output, testCase));
  return judge(differences, testCase, MUTATION_RULES);
}

/** What the mutators may change. A VM's status is the controller's. */
const visible = ({ metadata, spec, status }: Stored, { kind }: MutationCase): object => ({
  metadata: {
    labels: metadata?.labels,
    annotations: metadata?.annotations,
    finalizers: metadata?.finalizers,
  },
  spec: asGoWrites(spec),
  status: kind === 'vmi' ? asGoWrites(status) : undefined,
});

export const mutation: OracleSet = {
  name: 'mutation',
  file: 'mutation.json',
  ruleIds: MUTATION_RULES.map(({ id }) => id),
  judge: (testCase) => compareMutation(testCase as MutationCase),
};
