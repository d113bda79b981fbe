import type { Pod } from '../../../api/kubernetes/types.ts';
import type { InstanceInterfaceStatus, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { GuestInfo } from '../../../api/launcher/reports.ts';

type AgentInterface = NonNullable<GuestInfo['interfaces']>[number];

/**
 * status.interfaces: the spec's, completed with what the guest agent sees (matched by MAC address, else by order), then what only the guest knows.
 * On the Pod network the address is the Pod's: what others reach, not what the guest has behind masquerade.
 */
export const interfaceStatuses = (
  vmi: VirtualMachineInstance,
  agent: GuestInfo,
  pod: Pod | undefined,
): InstanceInterfaceStatus[] => {
  const seen = (agent.interfaces ?? []).filter(({ name }) => name !== 'lo');
  const taken = new Set<AgentInterface>();
  const configured = (vmi.spec.domain.devices.interfaces ?? []).map(({ name, macAddress }): InstanceInterfaceStatus => {
    const match = seen.find(
      (candidate) => !taken.has(candidate) && (macAddress === undefined || sameMac(candidate.mac, macAddress)),
    );
    if (match !== undefined) taken.add(match);
    const onPodNetwork = vmi.spec.networks?.some((network) => network.name === name && network.pod !== undefined);
    const podIps = pod?.status?.podIPs?.flatMap(({ ip }) => (ip === undefined ? [] : [ip])) ?? [];
    const mac = macAddress ?? match?.mac;
    return {
      name,
      ...(mac === undefined ? {} : { mac }),
      ...(match === undefined ? {} : { interfaceName: match.name }),
      ...addresses(onPodNetwork === true && podIps.length > 0 ? podIps : (match?.addresses ?? [])),
      infoSource: match === undefined ? 'domain' : 'domain, guest-agent',
      queueCount: 1,
    };
  });
  const others = seen
    .filter((candidate) => !taken.has(candidate))
    .map((candidate): InstanceInterfaceStatus => ({
      interfaceName: candidate.name,
      ...(candidate.mac === undefined ? {} : { mac: candidate.mac }),
      ...addresses(candidate.addresses),
      infoSource: 'guest-agent',
    }));
  return [...configured, ...others];
};

const sameMac = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();

const addresses = ([first, ...more]: string[]): Pick<InstanceInterfaceStatus, 'ipAddress' | 'ipAddresses'> =>
  first === undefined ? {} : { ipAddress: first, ipAddresses: [first, ...more] };
