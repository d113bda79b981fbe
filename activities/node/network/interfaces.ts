import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { Masquerade } from './masquerade.ts';

/** KubeVirt's default for `pod.vmNetworkCIDR`. */
const DEFAULT_CIDR = '10.0.2.0/24';

/** The masquerade part that the spec asks for, without what only the Pod's namespace knows. */
export type WantedMasquerade = Omit<Masquerade, 'uplink' | 'mtu'>;

/**
 * What the VMI's interfaces ask of the Pod's network; undefined: no network.
 * @throws InvalidSpec for a binding or network that this release does not set up, naming the field
 */
export const wantedNetwork = (vmi: VirtualMachineInstance): WantedMasquerade | undefined => {
  const interfaces = (vmi.spec.domain.devices.interfaces ?? []).filter(({ state }) => state !== 'absent');
  const [first, ...more] = interfaces;
  if (first === undefined) return undefined;
  if (more.length > 0) throw refuse('interfaces[1]', 'only one interface is supported so far');
  const network = vmi.spec.networks?.find(({ name }) => name === first.name);
  if (network?.pod === undefined) throw refuse('interfaces[0]', `network "${first.name}" is not the pod network`);
  if (first.masquerade === undefined) throw refuse('interfaces[0]', 'only the masquerade binding is supported so far');
  return {
    ...hostsOf(network.pod.vmNetworkCIDR || DEFAULT_CIDR),
    ports: (first.ports ?? []).map(({ protocol, port }) => ({
      protocol: protocol?.toUpperCase() === 'UDP' ? 'udp' : 'tcp',
      port,
    })),
    multiQueue: wantsMultiQueue(vmi),
  };
};

/** First and second address of the network: KubeVirt's choice for gateway and guest. @throws InvalidSpec */
export const hostsOf = (cidr: string): Pick<Masquerade, 'gateway' | 'guest' | 'prefixLength'> => {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr);
  const [a, b, c, d, prefixLength] = match?.slice(1).map(Number) ?? [];
  const valid = [a, b, c, d].every((octet) => octet !== undefined && octet <= 255);
  if (a === undefined || b === undefined || c === undefined || d === undefined || !valid || !inRange(prefixLength)) {
    throw failure('InvalidSpec', `spec.networks: vmNetworkCIDR "${cidr}" is not an IPv4 network of /8 to /30`);
  }
  const size = 2 ** (32 - prefixLength);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  const base = address - (address % size);
  return { gateway: dotted(base + 1), guest: dotted(base + 2), prefixLength };
};

const inRange = (prefix: number | undefined): prefix is number => prefix !== undefined && prefix >= 8 && prefix <= 30;

const dotted = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');

const wantsMultiQueue = ({ spec: { domain } }: VirtualMachineInstance): boolean => {
  const { cores, sockets, threads } = domain.cpu ?? {};
  const vcpus = (cores || 1) * (sockets || 1) * (threads || 1);
  return domain.devices.networkInterfaceMultiqueue === true && vcpus > 1;
};

const refuse = (field: string, why: string): Error => failure('InvalidSpec', `spec.domain.devices.${field}: ${why}`);
