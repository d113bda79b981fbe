import type { Logger } from 'pino';
import { evictImages, releaseImages } from '../../activities/node/container-disks/index.ts';
import { podVolume } from '../../activities/node/launcher-client/sockets.ts';
import type { NodePorts } from '../../activities/node/index.ts';
import { launcherPods } from './launchers/discovery.ts';

type Ports = Pick<NodePorts, 'pods' | 'mounts' | 'images' | 'processes'>;

/**
 * Takes away what nobody else will: mounts in Pods that have ended (the kubelet cannot remove their directories under them) and images that no Pod
 * uses. A Pod that still has a process is left alone.
 */
export const sweep = async (ports: Ports, log: Pick<Logger, 'info'>): Promise<void> => {
  for (const podUid of await launcherPods(ports.pods)) {
    // Mounts first: what is mounted before no process is left is of a Pod that has ended, not of one that starts just now.
    const mounted = await ports.mounts.below(podVolume(ports.pods, podUid, 'containerDisks'));
    if (mounted.length > 0 && (await ports.processes.ofPod(podUid)).length === 0) await releaseImages(ports, podUid);
  }
  const evicted = await evictImages(ports);
  if (evicted.length > 0) log.info({ evicted }, 'images evicted');
};
