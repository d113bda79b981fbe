import { BRIDGE_DEVICE, LAUNCHER_UID, TAP_DEVICE } from '../../../api/launcher/paths.ts';

/**
 * Masquerade binding: the guest lives in a small network of its own behind a bridge in the Pod's network namespace; nftables gives it the
 * Pod's address outwards and hands it what arrives for the Pod. Pure: what there shall be, and the commands that lead there.
 */
export interface Masquerade {
  /** Bridge's address, the guest's gateway. */
  gateway: string;
  guest: string;
  prefixLength: number;
  /** Pod's own interface. */
  uplink: string;
  mtu: number;
  /** Only these reach the guest; empty: everything does. */
  ports: { protocol: 'tcp' | 'udp'; port: number }[];
  /** The tap device takes one queue per vCPU. */
  multiQueue: boolean;
}

/** A link as `ip -json address show` tells of it, as far as it matters here. */
export interface Link {
  ifname: string;
  mtu: number;
  master?: string;
  flags: string[];
  addr_info?: { family: string; local: string; prefixlen: number }[];
}

/** Fixed, as in KubeVirt: the guest's ARP entry for its gateway stays right when the guest moves to another Pod. */
const BRIDGE_MAC = '02:00:00:00:00:00';
/** The launcher's DHCP server is unprivileged. */
const DHCP_SERVER_PORT = 67;
const TABLE = 'virtflow';

/** Arguments of `ip`, in order, that bring bridge and tap from what is there to what shall be. Nothing to do: only idempotent ones. */
export const linkCommands = (want: Masquerade, links: readonly Link[]): string[][] => {
  const bridge = links.find(({ ifname }) => ifname === BRIDGE_DEVICE);
  const tap = links.find(({ ifname }) => ifname === TAP_DEVICE);
  const addressed = bridge?.addr_info?.some(({ local }) => local === want.gateway) ?? false;
  const queues = want.multiQueue ? ['multi_queue'] : [];
  const owner = String(LAUNCHER_UID);
  return [
    ...(bridge ? [] : [['link', 'add', BRIDGE_DEVICE, 'address', BRIDGE_MAC, 'type', 'bridge']]),
    ...(addressed ? [] : [['address', 'add', `${want.gateway}/${want.prefixLength}`, 'dev', BRIDGE_DEVICE]]),
    ...(tap ? [] : [['tuntap', 'add', 'dev', TAP_DEVICE, 'mode', 'tap', 'user', owner, 'vnet_hdr', ...queues]]),
    ['link', 'set', TAP_DEVICE, 'mtu', String(want.mtu), 'master', BRIDGE_DEVICE, 'up'],
    ['link', 'set', BRIDGE_DEVICE, 'mtu', String(want.mtu), 'up'],
    // DHCP answers to guests without an address go to the broadcast address: without this route they would leave by the uplink.
    ['route', 'replace', '255.255.255.255/32', 'dev', BRIDGE_DEVICE],
  ];
};

/** Input of `sh`, run in the Pod's network namespace: everything that there shall be, in one process. */
export const setupScript = (want: Masquerade, links: readonly Link[]): string => {
  const settings = Object.entries(kernelSettings()).map(([file, value]) => `echo ${value} >/proc/sys/${file}`);
  return [
    'set -e',
    ...withInput(
      'ip -batch -',
      linkCommands(want, links)
        .map((command) => `${command.join(' ')}\n`)
        .join(''),
    ),
    // The launcher's DHCP answers must carry whole checksums: many guests' DHCP clients look at raw frames.
    `ethtool -K ${BRIDGE_DEVICE} tx off >/dev/null`,
    ...settings,
    ...withInput('nft -f -', ruleset(want)),
    '',
  ].join('\n');
};

/** A here-document, taken literally. */
const withInput = (command: string, input: string): string[] => [`${command} <<'END'`, `${input}END`];

/** Kernel settings of the Pod's network namespace: file below /proc/sys → value. */
export const kernelSettings = (): Record<string, string> => ({
  'net/ipv4/ip_forward': '1',
  'net/ipv4/ip_unprivileged_port_start': String(DHCP_SERVER_PORT),
  // For connections to the Pod's loopback (kubectl port-forward): the guest's answers carry 127.0.0.1 once translated back.
  [`net/ipv4/conf/${BRIDGE_DEVICE}/route_localnet`]: '1',
});

/** Input of `nft -f -`: the table as a whole, replaced in one transaction. Connections that are open keep their translation. */
export const ruleset = (want: Masquerade): string => {
  const forward = forwardRules(want);
  return `add table ip ${TABLE}
delete table ip ${TABLE}
table ip ${TABLE} {
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
${forward.map((rule) => `    iifname "${want.uplink}" ${rule}`).join('\n')}
  }
  chain output {
    type nat hook output priority -100; policy accept;
${forward.map((rule) => `    ip daddr 127.0.0.1 ${rule}`).join('\n')}
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    oifname "${want.uplink}" ip saddr ${want.guest} counter masquerade
    oifname "${BRIDGE_DEVICE}" ip saddr 127.0.0.1 counter snat to ${want.gateway}
  }
}
`;
};

const forwardRules = ({ ports, guest }: Masquerade): string[] => {
  if (ports.length === 0) return [`counter dnat to ${guest}`];
  return (['tcp', 'udp'] as const).flatMap((protocol) => {
    const numbers = [...new Set(ports.filter((one) => one.protocol === protocol).map(({ port }) => port))];
    return numbers.length === 0 ? [] : [`${protocol} dport { ${numbers.join(', ')} } counter dnat to ${guest}`];
  });
};
