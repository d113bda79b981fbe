import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { parseVirtualMachine } from '../../../api/schemas/index.ts';
import { toInstance } from '../../../api/virtual-machine/index.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';
import { asGoWrites } from './stored.ts';

/** A case of the set vm-to-vmi. */
export interface VmToVmiCase {
  vm: VirtualMachine;
  vmi: VirtualMachineInstance;
}

export const VM_TO_VMI_RULES: Rule<VmToVmiCase>[] = [];

export const compareVmToVmi = (testCase: VmToVmiCase): Verdict =>
  judge(
    compareJson(visible(toInstance(parseVirtualMachine(testCase.vm))), visible(testCase.vmi)),
    testCase,
    VM_TO_VMI_RULES,
  );

/** The reference answers are made before the finalizers are added. */
function visible({ apiVersion, kind, metadata, spec }: VirtualMachineInstance): object {
  const { finalizers: _, ...rest } = metadata ?? {};
  return { apiVersion, kind, metadata: asGoWrites(rest), spec: asGoWrites(spec) };
}

export const vmToVmi: OracleSet = {
  name: 'vm-to-vmi',
  file: 'vm-to-vmi.json',
  ruleIds: VM_TO_VMI_RULES.map(({ id }) => id),
  judge: (testCase) => compareVmToVmi(testCase as VmToVmiCase),
};
