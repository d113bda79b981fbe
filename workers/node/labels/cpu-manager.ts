import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const state = z.object({ policyName: z.string() });

/** Labels that say whether the kubelet gives CPUs to one Pod alone: VMs with dedicatedCpuPlacement go only there. The second one is KubeVirt's older name. */
export const CPU_MANAGER_LABELS = ['kubevirt.io/cpumanager', 'cpumanager'] as const;

/** From the kubelet's own record. Without one (or one that cannot be read) nobody is promised CPUs of his own. */
export const cpuManagerLabels = async (file: string): Promise<Record<string, string>> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  return Object.fromEntries(CPU_MANAGER_LABELS.map((label) => [label, String(isStatic(text))]));
};

/** Pure. @param text of the kubelet's cpu_manager_state */
export const isStatic = (text: string): boolean => {
  try {
    return state.safeParse(JSON.parse(text)).data?.policyName === 'static';
  } catch {
    return false;
  }
};
