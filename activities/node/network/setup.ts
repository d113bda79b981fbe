import { setTimeout as delay } from 'node:timers/promises';
import type { RunCommand } from '../commands.ts';
import type { WantedMasquerade } from './interfaces.ts';
import type { Link } from './masquerade.ts';
import { setupScript } from './masquerade.ts';

/** Name that the kubelet's runtimes give a Pod's own interface. */
const UPLINK = 'eth0';

/** Sets up a Pod's network for its guest, in the network namespace that a file stands for. */
export interface PodNetwork {
  /** Ensures bridge, tap, translation and kernel settings; answers the MTU that the guest should use. Safe to repeat under a live guest. */
  ensureMasquerade(namespace: string, want: WantedMasquerade): Promise<{ mtu: number }>;
}

export const podNetwork = (run: RunCommand): PodNetwork => ({
  async ensureMasquerade(namespace, want) {
    const inside: RunCommand = (file, args, options) => run('nsenter', [`--net=${namespace}`, file, ...args], options);
    const { links, mtu } = await withUplink(inside);
    await inside('sh', [], { input: setupScript({ ...want, uplink: UPLINK, mtu }, links) });
    return { mtu };
  },
});

/** Most runtimes give a Pod its interface before its first process starts, some right after. */
const UPLINK_WAITS_MS = [100, 200, 400, 800, 1_600];

const withUplink = async (inside: RunCommand): Promise<{ links: Link[]; mtu: number }> => {
  for (const waitMs of [...UPLINK_WAITS_MS, undefined]) {
    const links = JSON.parse(await inside('ip', ['-json', 'address', 'show'])) as Link[];
    const mtu = links.find(({ ifname }) => ifname === UPLINK)?.mtu;
    if (mtu !== undefined) return { links, mtu };
    if (waitMs !== undefined) await delay(waitMs);
  }
  throw new Error(`the launcher Pod has no interface ${UPLINK}: check the node's CNI configuration`);
};
