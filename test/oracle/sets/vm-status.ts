import { dataVolumeState, type DataVolume } from '../../../activities/controller/virtual-machine/data-volumes.ts';
import { printableStatus } from '../../../activities/controller/virtual-machine/printable-status.ts';
import { mirroredConditions } from '../../../activities/controller/virtual-machine/vm-status.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';

/** A case of the set table-vm-status. */
export interface VmStatusCase {
  vm: VirtualMachine;
  /** null: there is none. */
  vmi: VirtualMachineInstance | null;
  dataVolumes?: (DataVolume & { name: string })[];
  persistentVolumeClaims?: { name: string; phase: string }[];
  creationExpected: boolean;
  deletionExpected: boolean;
  printableStatus: string;
  conditions: { type: string }[];
}

export const VM_STATUS_RULES: Rule<VmStatusCase>[] = [];

/** What virtflow publishes. */
function statusOf(testCase: VmStatusCase): object {
  const { vm, creationExpected, deletionExpected, dataVolumes = [], persistentVolumeClaims = [] } = testCase;
  const vmi = testCase.vmi ?? undefined;
  const volumes = vm.spec.template.spec?.volumes ?? [];
  const uses = (name: string): boolean => volumes.some(({ dataVolume }) => dataVolume?.name === name);
  const claims = volumes.map(
    ({ dataVolume, persistentVolumeClaim }) => dataVolume?.name ?? persistentVolumeClaim?.claimName,
  );
  return {
    printableStatus: printableStatus({
      // KubeVirt's controller waits for one of both: the later one, its delete.
      ...{ vm, vmi, creationExpected: creationExpected && !deletionExpected, deletionExpected },
      claimUnbound: persistentVolumeClaims.some(({ name, phase }) => claims.includes(name) && phase !== 'Bound'),
      dataVolumes: dataVolumeState(dataVolumes.filter(({ name }) => uses(name))),
    }),
    conditions: byType(mirroredConditions(vmi)),
  };
}

const byType = (conditions: { type: string }[]): object =>
  Object.fromEntries(conditions.map(({ type, ...condition }) => [type, condition]));

export function compareVmStatus(testCase: VmStatusCase): Verdict {
  const { printableStatus: status, conditions } = testCase;
  const differences = compareJson(statusOf(testCase), { printableStatus: status, conditions: byType(conditions) });
  return judge(differences, testCase, VM_STATUS_RULES);
}

export const vmStatusTable: OracleSet = {
  name: 'table-vm-status',
  file: 'table-vm-status.json',
  ruleIds: VM_STATUS_RULES.map(({ id }) => id),
  judge: (testCase) => compareVmStatus(testCase as VmStatusCase),
};
