import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { readInstance } from './read.ts';

export interface ClaimUse {
  volume: string;
  claim: string;
  /** A DataVolume fills a claim of its own name. */
  source: 'PersistentVolumeClaim' | 'DataVolume';
}

/** Claims that a VMI's volumes use; of a list that is none (an object that nobody has validated yet) there are none. */
export const claimsOf = ({ spec }: Pick<VirtualMachineInstance, 'spec'>): ClaimUse[] =>
  volumesOf(spec).flatMap((volume): ClaimUse[] => {
    const claim = volume.persistentVolumeClaim?.claimName ?? volume.ephemeral?.persistentVolumeClaim?.claimName;
    if (claim !== undefined) return [{ volume: volume.name, claim, source: 'PersistentVolumeClaim' }];
    if (volume.dataVolume === undefined) return [];
    return [{ volume: volume.name, claim: volume.dataVolume.name, source: 'DataVolume' }];
  });

const volumesOf = ({ volumes }: VirtualMachineInstance['spec']): Volume[] =>
  Array.isArray(volumes) ? volumes.filter((volume: unknown) => typeof volume === 'object' && volume !== null) : [];

/** All volumes of the spec exist and are ready. @throws VolumeNotFound, VolumeNotReady, ObjectGone */
export const checkVolumes =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['checkVolumes'] =>
  async (ref) => {
    const vmi = await readInstance(kube, ref);
    for (const use of claimsOf(vmi)) {
      const what = `Volume ${use.volume}: ${use.source} ${ref.namespace}/${use.claim}`;
      const claim = await kube.get('PersistentVolumeClaim', { namespace: ref.namespace, name: use.claim });
      if (claim === undefined) {
        throw failure('VolumeNotFound', `${what} does not exist. Create it; the start goes on by itself.`);
      }
      const obstacle = await obstacleOf(kube, claim);
      if (obstacle !== undefined) throw failure('VolumeNotReady', `${what} ${obstacle}`);
    }
  };

const obstacleOf = async (kube: KubePort, claim: PersistentVolumeClaim): Promise<string | undefined> => {
  if (claim.metadata?.deletionTimestamp !== undefined) return 'is being deleted. Wait for its end and create it again.';
  if (claim.status?.phase === 'Bound') return undefined;
  if (claim.status?.phase === 'Lost') return 'has lost its PersistentVolume. Restore it or create the claim again.';
  if (await waitsForPod(kube, claim)) return undefined;
  return 'is not bound yet. Look at: kubectl describe pvc; the start goes on by itself.';
};

/** A class may bind its claims only when a Pod that uses them is scheduled: then the launcher Pod is what the claim waits for. */
const waitsForPod = async (kube: KubePort, claim: PersistentVolumeClaim): Promise<boolean> => {
  const name = claim.spec?.storageClassName;
  if (name === undefined || name === '') return false;
  const storageClass = await kube.get('StorageClass', { name });
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
};
