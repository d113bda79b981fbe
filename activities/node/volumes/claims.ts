import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';

/** Claim behind a volume that the guest writes to; undefined for other volumes. A DataVolume's claim has its name. */
export const claimName = (volume: Volume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ?? volume.dataVolume?.name;

/** Claim behind a volume of any kind, also one that only backs an overlay. */
const anyClaimName = (volume: Volume): string | undefined =>
  claimName(volume) ?? volume.ephemeral?.persistentVolumeClaim?.claimName;

/** Live read of every claim of the VMI, by volume. @throws VolumeNotFound */
export const readClaims = async (
  kube: Pick<KubePort, 'get'>,
  vmi: VirtualMachineInstance,
): Promise<Record<string, PersistentVolumeClaim>> => {
  const namespace = vmi.metadata?.namespace ?? '';
  const claims: Record<string, PersistentVolumeClaim> = {};
  for (const volume of vmi.spec.volumes ?? []) {
    const name = anyClaimName(volume);
    if (name === undefined) continue;
    const claim = await kube.get('PersistentVolumeClaim', { namespace, name });
    if (claim === undefined)
      throw failure('VolumeNotFound', `volume ${volume.name}: there is no PVC ${namespace}/${name}: create it`);
    claims[volume.name] = claim;
  }
  return claims;
};
