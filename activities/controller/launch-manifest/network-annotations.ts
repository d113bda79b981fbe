import { createHash } from 'node:crypto';
import { BRIDGE_DEVICE } from '../../../api/launcher/paths.ts';
import type { Network, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

/** Length that leaves room for the "-nic" suffix in a kernel interface name. */
const HASHED_NAME_LENGTH = 11;

/** Annotations by which the cluster's network plugins serve the Pod. */
export const networkAnnotations = ({ metadata, spec }: VirtualMachineInstance): Record<string, string> => {
  const interfaces = (spec.domain.devices.interfaces ?? []).filter(({ state }) => state !== 'absent');
  const used = (spec.networks ?? []).filter(({ name }) => interfaces.some((nic) => nic.name === name));
  const macOf = (network: Network): string | undefined =>
    interfaces.find(({ name }) => name === network.name)?.macAddress;
  const secondary = used
    .filter(({ multus }) => multus !== undefined && !isPrimary(multus))
    .map((network) => attachment(network, metadata?.namespace ?? '', macOf(network)));
  const primary = (spec.networks ?? []).find(({ multus }) => multus !== undefined && isPrimary(multus))?.multus
    ?.networkName;
  return {
    ...(secondary.length > 0 ? { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(secondary) } : {}),
    ...(primary === undefined ? {} : { 'v1.multus-cni.io/default-network': primary }),
    ...(spec.domain.devices.interfaces?.some(({ masquerade }) => masquerade !== undefined) ? meshAnnotations() : {}),
  };
};

/** The attachment replaces the Pod's own network. */
export const isPrimary = (multus: object): boolean => 'default' in multus && multus.default === true;

/** One attached network; keys in the order of the network attachment standard. */
const attachment = (
  network: Network,
  namespace: string,
  mac: string | undefined,
): { name: string; namespace: string; mac?: string; interface: string } => {
  const [first = '', second] = (network.multus?.networkName ?? '').split('/');
  return {
    name: second ?? first,
    namespace: second === undefined ? namespace : first,
    ...(mac ? { mac } : {}),
    interface: podInterfaceName(network.name),
  };
};

/** Name of a secondary network's interface in the Pod. */
export const podInterfaceName = (network: string): string =>
  `pod${createHash('sha256').update(network).digest('hex').slice(0, HASHED_NAME_LENGTH)}`;

/** Both names of the setting that has a service mesh treat the guest's bridge as a source of traffic. */
const meshAnnotations = (): Record<string, string> => ({
  'traffic.sidecar.istio.io/kubevirtInterfaces': BRIDGE_DEVICE,
  'istio.io/reroute-virtual-interfaces': BRIDGE_DEVICE,
});
