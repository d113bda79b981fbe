import { isIPv4 } from 'node:net';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { InstanceInterfaceStatus, Interface, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { DomainReport, GuestInfo } from '../../../api/launcher/reports.ts';
import { isPrimary, podInterfaceName } from '../launch-manifest/network-annotations.ts';

type AgentInterface = NonNullable<GuestInfo['interfaces']>[number];
type Guest = Pick<DomainReport, 'agent' | 'hardware'>;

/** Interfaces of the guest's own making that are shown at most (KubeVirt's limit): bridges and containers can be many. */
const GUEST_ONLY = 10;
/** What Kubernetes calls the Pod network's interface. */
const PRIMARY = 'eth0';

/**
 * status.interfaces: the spec's, that of the Pod network first, completed with what the domain has and what the guest agent sees (matched by MAC
 * address); then what only the guest knows. On the Pod network the address is the Pod's, which is what others reach, unless the guest's agent says
 * that the guest has none of that family.
 * @param guest absent: the domain does not run yet, so that only the Pod's side is known
 */
export const interfaceStatuses = (
  vmi: VirtualMachineInstance,
  guest: Guest | undefined,
  pod: Pod | undefined,
): InstanceInterfaceStatus[] => {
  // A running instance may have been edited so that nobody can read it.
  const interfaces = Array.isArray(vmi.spec.domain.devices.interfaces) ? vmi.spec.domain.devices.interfaces : [];
  const seen = (guest?.agent.interfaces ?? []).filter(({ name }) => name !== 'lo');
  const taken = new Set<AgentInterface>();
  const configured = inOrder(vmi, interfaces).map((nic): InstanceInterfaceStatus => {
    const network = vmi.spec.networks?.find(({ name }) => name === nic.name);
    const isPodNetwork = network?.pod !== undefined;
    const names =
      network === undefined ? {} : { podInterfaceName: isPodNetwork ? PRIMARY : podInterfaceName(nic.name) };
    const isAttached = network?.multus !== undefined && !isPrimary(network.multus);
    const sources = isAttached ? ['multus-status'] : [];
    if (guest === undefined) return { name: nic.name, ...names, ...infoSource(sources) };
    const device = guest.hardware?.interfaces?.[nic.name];
    const mac = device?.mac ?? nic.macAddress;
    const match = seen.find((candidate) => !taken.has(candidate) && isSame(candidate, mac));
    if (match !== undefined) taken.add(match);
    const known = mac ?? match?.mac;
    return {
      name: nic.name,
      ...(known === undefined ? {} : { mac: known }),
      ...(match === undefined ? {} : { interfaceName: match.name }),
      ...names,
      ...addresses(merged(isPodNetwork ? podAddresses(pod) : [], match, nic)),
      ...infoSource(['domain', ...(match === undefined ? [] : ['guest-agent']), ...sources]),
      queueCount: device?.queues ?? 1,
      linkState: device?.link ?? (nic.state === 'down' ? 'down' : 'up'),
    };
  });
  const others = seen.filter((candidate) => !taken.has(candidate)).slice(0, GUEST_ONLY);
  return [...configured, ...others.map(guestOnly)];
};

/** kubectl shows the address of the first one. */
const inOrder = ({ spec }: VirtualMachineInstance, interfaces: Interface[]): Interface[] => {
  const primary = spec.networks?.find(({ pod }) => pod !== undefined)?.name;
  const isFirst = ({ name }: Interface): number => (name === primary ? 0 : 1);
  return interfaces.filter(({ state }) => state !== 'absent').sort((a, b) => isFirst(a) - isFirst(b));
};

/** Without a known MAC address the first of the guest's will do. */
const isSame = ({ mac }: AgentInterface, wanted: string | undefined): boolean =>
  wanted === undefined || mac?.toLowerCase() === wanted.toLowerCase();

const podAddresses = (pod: Pod | undefined): string[] =>
  pod?.status?.podIPs?.flatMap(({ ip }) => (ip === undefined ? [] : [ip])) ?? [];

/** Per family: the agent's word where nothing else is known, and where the guest has no address at all. */
const merged = (known: string[], match: AgentInterface | undefined, nic: Interface): string[] => {
  if (match === undefined) return known;
  // Behind masquerade nobody reaches the guest's link-local addresses.
  const told = match.addresses.filter((address) => nic.masquerade === undefined || !isLinkLocal(address));
  return [isIPv4, (address: string) => !isIPv4(address)].flatMap((ofFamily) => {
    const [before, now] = [known.filter(ofFamily), told.filter(ofFamily)];
    return before.length === 0 || now.length === 0 ? now : before;
  });
};

const isLinkLocal = (address: string): boolean => /^(fe[89ab][0-9a-f]:|169\.254\.)/i.test(address);

const guestOnly = ({ name, mac, addresses: told }: AgentInterface): InstanceInterfaceStatus => ({
  interfaceName: name,
  ...(mac === undefined ? {} : { mac }),
  ...addresses(told),
  infoSource: 'guest-agent',
});

const infoSource = (sources: string[]): Pick<InstanceInterfaceStatus, 'infoSource'> =>
  sources.length === 0 ? {} : { infoSource: sources.join(', ') };

const addresses = ([first, ...more]: string[]): Pick<InstanceInterfaceStatus, 'ipAddress' | 'ipAddresses'> =>
  first === undefined ? {} : { ipAddress: first, ipAddresses: [first, ...more] };
