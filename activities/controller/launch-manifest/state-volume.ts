import { keepsState, stateClaimName } from '../../../api/kubevirt/persistent-state.ts';
import { VM_STATE } from '../../../api/launcher/paths.ts';
import { ManifestError } from './input.ts';
import type { LaunchInput } from './input.ts';
import type { Mounted } from './mounted.ts';

/** What a guest keeps besides its disks. @throws ManifestError while its claim is not there */
export const stateVolume = ({ vmi, claims = {} }: LaunchInput): Mounted[] => {
  if (!keepsState(vmi)) return [];
  const claimName = stateClaimName(vmi.metadata?.name ?? '');
  if (claims[claimName] === undefined) {
    throw new ManifestError(`the claim ${claimName}, which holds the state of TPM and firmware, is not there`);
  }
  const { name, path } = VM_STATE;
  return [{ volume: { name, persistentVolumeClaim: { claimName } }, mount: { name, mountPath: path } }];
};
