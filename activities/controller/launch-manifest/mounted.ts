import type { Container, PodVolume, VolumeMount } from '../../../api/kubernetes/types.ts';

/** A volume of the Pod and how `compute` sees it. */
export interface Mounted {
  volume: PodVolume;
  mount?: VolumeMount;
  device?: NonNullable<Container['volumeDevices']>[number];
}

export const readOnly = (name: string, mountPath: string): VolumeMount => ({ name, mountPath, readOnly: true });
