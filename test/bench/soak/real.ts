import { defaultKubeClient } from '../../../activities/kube/client.ts';
import { defaultKubeConfig, restOf } from '../../../activities/kube/rest.ts';
import { ensureNamespace } from '../../e2e/support/namespaces.ts';
import { untilSystemReady } from '../../e2e/support/pods.ts';
import { createVm, deleteVm, NAMESPACE, untilRunning } from '../../e2e/support/vms.ts';
import type { Figure } from '../figures.ts';
import { memoryOfWorkers } from '../memory.ts';
import { openCycle } from './cycle.ts';
import { soakFor } from './rounds.ts';

/** A soak of VMs with real guests, on the local cluster. */
export async function soakReal(
  { vms, minutes }: { vms: number; minutes: number },
  progress: (text: string) => void,
): Promise<Figure[]> {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  const names = Array.from({ length: vms }, (_, n) => `soak-${n}`);
  const cycle = await openCycle(defaultKubeClient(), restOf(defaultKubeConfig()), NAMESPACE);
  try {
    progress(`starting ${vms} VMs`);
    await Promise.all(names.map((name) => createVm(name, { gracePeriodSeconds: 5 })));
    await Promise.all(names.map((name) => untilRunning(name)));
    return await soakFor({ cycle, names, minutes, sample: memoryOfWorkers, progress });
  } finally {
    cycle.close();
    await Promise.all(names.map(deleteVm));
  }
}
