import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { runCommand } from '../../../activities/node/commands.ts';
import type { WantedMasquerade } from '../../../activities/node/network/interfaces.ts';
import { podNetwork } from '../../../activities/node/network/setup.ts';
import type { Namespace } from '../../support/netns.ts';
import { addNamespace, sh } from '../../support/netns.ts';

jest.setTimeout(60_000);

/**
 * Three network namespaces: a node (198.51.100.1), a Pod (198.51.100.2 on eth0) that the code under test sets up, and a guest: a cable into the Pod's bridge
 * stands for the tap device that QEMU would open.
 */
let node: Namespace;
let pod: Namespace;
let guest: Namespace;
const children: ChildProcess[] = [];

const want: WantedMasquerade = {
  gateway: '10.0.2.1',
  guest: '10.0.2.2',
  prefixLength: 24,
  ports: [],
  multiQueue: false,
};

beforeEach(() => {
  [node, pod, guest] = [addNamespace(), addNamespace(), addNamespace()];
  sh(`
    ip link add eth0 netns ${pod.name} mtu 1400 type veth peer name pod netns ${node.name}
    ip -n ${node.name} address add 198.51.100.1/24 dev pod && ip -n ${node.name} link set pod up mtu 1400
    ip -n ${pod.name} address add 198.51.100.2/24 dev eth0 && ip -n ${pod.name} link set eth0 up
    ip -n ${pod.name} route add default via 198.51.100.1`);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const namespace of [node, pod, guest]) namespace.remove();
});

const plugInGuest = (): void => {
  sh(`
    ip link add eth0 netns ${guest.name} mtu 1400 type veth peer name cable netns ${pod.name}
    ip -n ${pod.name} link set cable master k6t-eth0 up
    ip -n ${guest.name} address add 10.0.2.2/24 dev eth0 && ip -n ${guest.name} link set eth0 up
    ip -n ${guest.name} route add default via 10.0.2.1`);
};

const SERVER = `require('net').createServer((c) => c.end(c.remoteAddress)).listen(+process.argv[1], () => console.log('up'))`;
const CLIENT = `require('net').connect(+process.argv[2], process.argv[1]).setTimeout(2000, () => process.exit(1)).on('error', () => process.exit(1)).pipe(process.stdout)`;

/** A server that says who calls. */
const serve = async (where: Namespace, port: number): Promise<void> => {
  const server = spawn('nsenter', [`--net=${where.path}`, process.execPath, '-e', SERVER, String(port)]);
  children.push(server);
  for await (const line of createInterface({ input: server.stdout })) if (line === 'up') return;
};

const call = (from: Namespace, address: string, port: number): string =>
  from.run(`${process.execPath} -e "${CLIENT}" ${address} ${port}`);

test('guest and node reach each other by the Pod’s address, by ping and by TCP', async () => {
  expect(await podNetwork(runCommand).ensureMasquerade(pod.path, want)).toEqual({ mtu: 1400 });
  plugInGuest();
  await serve(guest, 8080);
  await serve(node, 9090);

  guest.run('ping -c 1 -W 2 198.51.100.1');
  node.run('ping -c 1 -W 2 198.51.100.2');
  expect(call(node, '198.51.100.2', 8080)).toContain('198.51.100.1');
  // The node sees the Pod, not the guest's own address.
  expect(call(guest, '198.51.100.1', 9090)).toContain('198.51.100.2');
  // kubectl port-forward connects to the Pod's loopback.
  expect(call(pod, '127.0.0.1', 8080)).toContain('10.0.2.1');
});

test('with ports only those reach the guest', async () => {
  const ports: WantedMasquerade['ports'] = [{ protocol: 'tcp', port: 8080 }];
  await podNetwork(runCommand).ensureMasquerade(pod.path, { ...want, ports });
  plugInGuest();
  await serve(guest, 8080);
  await serve(guest, 8081);
  expect(call(node, '198.51.100.2', 8080)).toContain('198.51.100.1');
  expect(() => call(node, '198.51.100.2', 8081)).toThrow();
});

test('done twice it is the same', async () => {
  const network = podNetwork(runCommand);
  await network.ensureMasquerade(pod.path, want);
  plugInGuest();
  await serve(guest, 8080);
  const state = (): string =>
    pod.run(
      "ip -brief -4 address show | awk '{ print $1, $3 }' | sort; nft --stateless list ruleset; ip route show | cut -d ' ' -f 1-3",
    );
  const before = state();
  await network.ensureMasquerade(pod.path, want);
  expect(state()).toBe(before);
  expect(call(node, '198.51.100.2', 8080)).toContain('198.51.100.1');
});

test('what the launcher needs: its tap device, the DHCP port, the broadcast route, whole checksums', async () => {
  await podNetwork(runCommand).ensureMasquerade(pod.path, want);
  const [tap] = JSON.parse(pod.run('ip -N -details -json link show tap0')) as { linkinfo: { info_data: object } }[];
  expect(tap?.linkinfo.info_data).toMatchObject({ type: 'tap', vnet_hdr: true, persist: true, user: 107 });
  expect(pod.run('cat /proc/sys/net/ipv4/ip_unprivileged_port_start').trim()).toBe('67');
  expect(pod.run('ip route get 255.255.255.255')).toContain('dev k6t-eth0');
  expect(pod.run('ethtool -k k6t-eth0')).toMatch(/^tx-checksumming: off/m);
});

test('a Pod without eth0 is told apart', async () => {
  await expect(podNetwork(runCommand).ensureMasquerade(guest.path, want)).rejects.toThrow(/no interface eth0/);
});
