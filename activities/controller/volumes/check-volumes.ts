import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { knownInstance } from '../instance/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { checkNetworks } from './check-networks.ts';
import type { ClaimUse } from './claims.ts';
import { claimsOf } from './claims.ts';
import { dataVolumeObstacle, fillerOf } from './data-volumes.ts';
import { dropFirstConsumer, ensureFirstConsumer } from './first-consumer.ts';
import { getIfServed } from './get-if-served.ts';

/**
 * All volumes of the spec exist and are ready, and so are the networks that it names.
 * @throws VolumeNotFound, VolumeNotReady, VolumeFailed, NetworkNotFound, ObjectGone
 */
export const checkVolumes =
  (
    ports: Pick<ControllerPorts, 'kube' | 'config' | 'launcherImage' | 'imagePullSecret' | 'cached' | 'around'>,
  ): ControllerActivities['checkVolumes'] =>
  async (ref) => {
    const { kube } = ports;
    // Which volumes it has does not change while it starts.
    const vmi = await knownInstance(ports, ref);
    const fillings: Filling[] = [];
    for (const use of claimsOf(vmi)) fillings.push(await checkClaim(kube, ref.namespace, use));
    await checkNetworks(kube, vmi);
    const unbound = fillings.find(({ obstacle }) => obstacle !== undefined);
    if (unbound?.obstacle !== undefined) {
      await ensureFirstConsumer(ports, readableInstance(vmi));
      throw failure('VolumeNotReady', unbound.obstacle);
    }
    if (fillings.some(({ isFilled }) => isFilled)) await dropFirstConsumer(kube, vmi);
  };

interface Filling {
  /** A DataVolume fills the claim. */
  isFilled: boolean;
  /** It waits to be bound first. */
  obstacle?: string;
}

/** @throws VolumeNotFound, VolumeNotReady, VolumeFailed */
const checkClaim = async (kube: KubePort, namespace: string, use: ClaimUse): Promise<Filling> => {
  const what = `Volume ${use.volume}: ${use.source} ${namespace}/${use.claim}`;
  const claim = await kube.get('PersistentVolumeClaim', { namespace, name: use.claim });
  const filler = use.source === 'DataVolume' ? use.claim : fillerOf(claim);
  const dataVolume =
    filler === undefined ? undefined : await getIfServed(kube, 'DataVolume', { namespace, name: filler });
  const filling = dataVolume === undefined ? undefined : dataVolumeObstacle(dataVolume);
  if (filling !== undefined && filling.kind !== 'unbound') {
    throw failure(filling.kind === 'failed' ? 'VolumeFailed' : 'VolumeNotReady', `${what} ${filling.text}`);
  }
  if (claim === undefined) {
    throw failure('VolumeNotFound', `${what} does not exist. Create it; the start goes on by itself.`);
  }
  const obstacle = await obstacleOf(kube, claim);
  if (obstacle !== undefined) throw failure('VolumeNotReady', `${what} ${obstacle}`);
  return {
    isFilled: dataVolume !== undefined,
    ...(filling === undefined ? {} : { obstacle: `${what} ${filling.text}` }),
  };
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
