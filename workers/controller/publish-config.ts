import type { KubePort } from '../../activities/kube/port.ts';
import { onConflictAgain } from '../../activities/controller/races.ts';
import type { Logger } from '../shared/logging.ts';
import type { ConfigState } from './cluster-config.ts';
import { kubeVirtPatch, theKubeVirt } from './cluster-config.ts';

/** Writes into the KubeVirt object's status whether its configuration is in force. A failure is logged: the next change or leader tries again. */
export const publishConfig = async (kube: KubePort, state: ConfigState, log: Logger): Promise<void> => {
  try {
    await onConflictAgain(async () => {
      const kubevirt = theKubeVirt(await kube.list('KubeVirt'));
      const patch = kubevirt === undefined ? undefined : kubeVirtPatch(kubevirt, state, new Date());
      if (kubevirt === undefined || patch === undefined) return;
      const { namespace = '', name = '', uid, resourceVersion } = kubevirt.metadata ?? {};
      const body = { ...patch, metadata: { uid, resourceVersion } };
      await kube.mergePatch('KubeVirt', { namespace, name }, body, { subresource: 'status' });
    });
  } catch (error) {
    log.warn({ err: error }, 'status of the KubeVirt object not written');
  }
};
