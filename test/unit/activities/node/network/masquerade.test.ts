import { expect, test } from '@jest/globals';
import type { Link, Masquerade } from '../../../../../activities/node/network/masquerade.ts';
import { linkCommands, ruleset, setupScript } from '../../../../../activities/node/network/masquerade.ts';

const want: Masquerade = {
  gateway: '10.0.2.1',
  guest: '10.0.2.2',
  prefixLength: 24,
  uplink: 'eth0',
  mtu: 1400,
  ports: [],
  multiQueue: false,
};

const bridge: Link = {
  ifname: 'k6t-eth0',
  mtu: 1400,
  flags: ['UP'],
  addr_info: [{ family: 'inet', local: '10.0.2.1', prefixlen: 24 }],
};
const tap: Link = { ifname: 'tap0', mtu: 1400, flags: ['UP'], master: 'k6t-eth0' };
const always = [
  'link set tap0 mtu 1400 master k6t-eth0 up',
  'link set k6t-eth0 mtu 1400 up',
  'route replace 255.255.255.255/32 dev k6t-eth0',
];
const addBridge = 'link add k6t-eth0 address 02:00:00:00:00:00 type bridge';
const addAddress = 'address add 10.0.2.1/24 dev k6t-eth0';
const addTap = 'tuntap add dev tap0 mode tap user 107 vnet_hdr';

test.each<[string, Link[], string[]]>([
  ['a fresh Pod', [], [addBridge, addAddress, addTap]],
  ['a bridge without address', [{ ...bridge, addr_info: [] }], [addAddress, addTap]],
  ['no tap yet', [bridge], [addTap]],
  ['all there', [bridge, tap], []],
])('%s: only what is missing is made', (_, links, made) => {
  expect(linkCommands(want, links).map((command) => command.join(' '))).toEqual([...made, ...always]);
});

test('a tap for several queues says so', () => {
  const commands = linkCommands({ ...want, multiQueue: true }, [bridge]);
  expect(commands[0]?.join(' ')).toBe(`${addTap} multi_queue`);
});

test('without ports everything that arrives is for the guest', () => {
  const text = ruleset(want);
  expect(text).toContain('iifname "eth0" counter dnat to 10.0.2.2');
  expect(text).toContain('ip daddr 127.0.0.1 counter dnat to 10.0.2.2');
  expect(text).toContain('oifname "eth0" ip saddr 10.0.2.2 counter masquerade');
});

test('with ports only those are for the guest, by protocol and each once', () => {
  const text = ruleset({
    ...want,
    ports: [
      { protocol: 'tcp', port: 22 },
      { protocol: 'tcp', port: 80 },
      { protocol: 'tcp', port: 22 },
      { protocol: 'udp', port: 53 },
    ],
  });
  expect(text).toContain('iifname "eth0" tcp dport { 22, 80 } counter dnat to 10.0.2.2');
  expect(text).toContain('iifname "eth0" udp dport { 53 } counter dnat to 10.0.2.2');
  expect(text).not.toContain('iifname "eth0" counter dnat');
});

test('the table is replaced as a whole, whether or not it is there', () => {
  expect(ruleset(want)).toMatch(/^add table ip virtflow\ndelete table ip virtflow\ntable ip virtflow \{/);
});

test('one script does it all, and stops at the first part that fails', () => {
  const script = setupScript(want, []);
  expect(script).toMatch(/^set -e\n/);
  expect(script).toContain(`ip -batch - <<'END'\n${addBridge}\n`);
  expect(script).toContain('\necho 1 >/proc/sys/net/ipv4/ip_forward\n');
  expect(script).toContain(`nft -f - <<'END'\n${ruleset(want)}END\n`);
});
