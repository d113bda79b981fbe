import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import { keepsState, stateClaimName } from '../../../api/kubevirt/persistent-state.ts';
import type { VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import type { KubePort } from '../../kube/port.ts';

export interface ClaimUse {
  volume: string;
  claim: string;
  /** A DataVolume fills a claim of its own name. */
  source: 'PersistentVolumeClaim' | 'DataVolume';
}

/** Claims by name. */
export type Claims = Record<string, PersistentVolumeClaim>;

/** Claims that a VMI's volumes use; of a list that is none (an object that nobody has validated yet) there are none. */
export const claimsOf = ({ spec }: Pick<VirtualMachineInstance, 'spec'>): ClaimUse[] =>
  volumesOf(spec).flatMap((volume): ClaimUse[] => {
    const claim = volume.persistentVolumeClaim?.claimName ?? volume.ephemeral?.persistentVolumeClaim?.claimName;
    if (claim !== undefined) return [{ volume: volume.name, claim, source: 'PersistentVolumeClaim' }];
    if (volume.dataVolume === undefined) return [];
    return [{ volume: volume.name, claim: volume.dataVolume.name, source: 'DataVolume' }];
  });

/** The spec's volumes, of an object that nobody has validated yet. */
export const volumesOf = ({ volumes }: Partial<VirtualMachineInstance['spec']>): Volume[] =>
  Array.isArray(volumes) ? volumes.filter((volume: unknown) => typeof volume === 'object' && volume !== null) : [];

/** What it keeps besides its disks; of an object that nobody has validated yet, nothing. */
const ownClaims = ({ metadata, spec }: Pick<VirtualMachineInstance, 'metadata' | 'spec'>): string[] =>
  typeof spec.domain?.devices === 'object' && keepsState({ spec }) ? [stateClaimName(metadata?.name ?? '')] : [];

/** The VMI's claims that exist, by name; live. */
export const readClaims = async (
  kube: KubePort,
  vmi: Pick<VirtualMachineInstance, 'metadata' | 'spec'>,
): Promise<Claims> => {
  const namespace = vmi.metadata?.namespace ?? '';
  const names = [...new Set([...claimsOf(vmi).map(({ claim }) => claim), ...ownClaims(vmi)])];
  const found = await Promise.all(names.map((name) => kube.get('PersistentVolumeClaim', { namespace, name })));
  return Object.fromEntries(names.flatMap((name, index) => (found[index] === undefined ? [] : [[name, found[index]]])));
};
