import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { memoryOverhead } from '../../../activities/controller/launch-manifest/index.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';
import { compareValues } from '../xml-tree.ts';

/** A case of the set table-memory-overhead. */
export interface OverheadCase {
  spec: VirtualMachineInstance['spec'];
  /** Empty: not set. */
  ratio: string;
  overheadBytes: number;
}

export const OVERHEAD_RULES: Rule<OverheadCase>[] = [];

export function compareOverhead(testCase: OverheadCase): Verdict {
  const { spec, ratio, overheadBytes } = testCase;
  const configuration = {
    defaultArchitecture: 'amd64',
    ...(ratio === '' ? {} : { additionalGuestMemoryOverheadRatio: Number(ratio) }),
  };
  const bytes = memoryOverhead({ spec }, configuration);
  const differences = compareValues({ bytes: String(bytes) }, { bytes: String(overheadBytes) }, (key) => key);
  return judge(differences, testCase, OVERHEAD_RULES);
}

export const memoryOverheadTable: OracleSet = {
  name: 'table-memory-overhead',
  file: 'table-memory-overhead.json',
  ruleIds: OVERHEAD_RULES.map(({ id }) => id),
  judge: (testCase) => compareOverhead(testCase as OverheadCase),
};
