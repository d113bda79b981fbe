import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { renderPod } from '../instance/render-pod.ts';
import { asFirstConsumer, firstConsumerName, renderLaunchManifest } from '../launch-manifest/index.ts';
import type { ControllerPorts } from '../ports.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'launcherImage' | 'imagePullSecret' | 'around'>;

/** It stands for no start, and no run token is asked for it: it runs no domain. */
const ORIGIN = { purpose: { attempt: 0 }, epoch: 0 };

/**
 * Sees to it that a Pod makes the VMI's claims be bound to a node, so that their DataVolumes can be filled. @throws InvalidSpec, QuotaExceeded, Forbidden
 */
export const ensureFirstConsumer = async (ports: Ports, vmi: VirtualMachineInstance): Promise<void> => {
  const { kube } = ports;
  const name = firstConsumerName(vmi);
  if ((await kube.get('Pod', { namespace: vmi.metadata?.namespace ?? '', name })) !== undefined) return;
  const manifest = await renderPod(ports, vmi, ORIGIN, (input) =>
    asFirstConsumer(renderLaunchManifest(input), input.vmi),
  );
  try {
    await kube.create('Pod', manifest);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
};

/** Removes it once nothing waits to be bound. */
export const dropFirstConsumer = async (kube: KubePort, vmi: VirtualMachineInstance): Promise<void> => {
  const name = { namespace: vmi.metadata?.namespace ?? '', name: firstConsumerName(vmi) };
  const uid = (await kube.get('Pod', name))?.metadata?.uid;
  if (uid !== undefined) await kube.remove('Pod', name, { uid });
};
