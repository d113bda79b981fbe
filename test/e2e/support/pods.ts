import type { Pod } from '../../../api/kubernetes/types.ts';
import { until } from '../../support/until.ts';
import { listObjects } from './kubectl.ts';
import { NAMESPACE } from './vms.ts';

export const SYSTEM_NAMESPACE = 'virtflow';

/** Launcher Pods of a VMI that are not final. */
export async function launcherPods(vmiUid: string, namespace = NAMESPACE): Promise<Pod[]> {
  const pods = await listObjects<Pod>('pod', namespace, `kubevirt.io/created-by=${vmiUid}`);
  return pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
}

export async function launcherPod(vmiUid: string, namespace = NAMESPACE): Promise<Pod> {
  const [pod, ...more] = await launcherPods(vmiUid, namespace);
  if (!pod || more.length > 0) throw new Error(`VMI ${vmiUid} has ${more.length + (pod ? 1 : 0)} launcher Pods`);
  return pod;
}

/** Pods of virtflow's own: 'controller', or 'node' (on one node if named). */
export async function systemPods(component: 'controller' | 'node', node?: string): Promise<Pod[]> {
  const pods = await listObjects<Pod>('pod', SYSTEM_NAMESPACE, `app.kubernetes.io/component=${component}`);
  return pods.filter((pod) => !node || pod.spec?.nodeName === node);
}

const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;

/** Waits until virtflow's own Pods are all Ready again. */
export const untilSystemReady = (timeoutMs = 180_000): Promise<boolean> =>
  until(
    'controller and node workers Ready',
    async () => {
      const pods = [...(await systemPods('controller').catch(() => [])), ...(await systemPods('node').catch(() => []))];
      return pods.length >= 3 && pods.every(isReady);
    },
    { timeoutMs, everyMs: 500 },
  );
