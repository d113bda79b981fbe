import type { VirtualMachineInstance } from './types.ts';

type Guest = Pick<VirtualMachineInstance, 'spec'>;

/** The TPM's state outlives the Pod. */
export const keepsTpm = ({ spec }: Guest): boolean => {
  const { tpm } = spec.domain.devices;
  return tpm?.persistent === true && tpm.enabled !== false;
};

/** The variables of the EFI firmware outlive the Pod. */
export const keepsEfi = ({ spec }: Guest): boolean => spec.domain.firmware?.bootloader?.efi?.persistent === true;

/** The guest has state besides its disks that outlives the Pod, in a claim of its own. */
export const keepsState = (vmi: Guest): boolean => keepsTpm(vmi) || keepsEfi(vmi);

/** Label of such a claim: name of its VMI (KubeVirt's). */
export const STATE_CLAIM_LABEL = 'persistent-state-for';

export const stateClaimName = (instance: string): string => `${STATE_CLAIM_LABEL}-${instance}`;
