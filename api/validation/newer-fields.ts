import type { Interface, Network, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** Fields of KubeVirt's API that are younger than the generated types, or that these spell otherwise. */

export interface NewerSpec extends VirtualMachineInstanceSpec {
  serviceAccountName?: string;
}

export interface PortRange {
  start: number;
  end: number;
  protocol?: string;
}

export interface NewerInterface extends Interface {
  portRanges?: PortRange[];
}

export interface NewerNetwork extends Omit<Network, 'multus'> {
  multus?: MultusNetwork;
  resourceClaim?: ClaimRequest;
}

/** A request of a DRA claim of the VMI. */
export interface ClaimRequest {
  claimName?: string;
  requestName?: string;
}

export interface MultusNetwork {
  networkName: string;
  /** It takes the place of the Pod network. */
  default?: boolean;
}
