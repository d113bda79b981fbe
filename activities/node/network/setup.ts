import { BRIDGE_DEVICE } from '../../../api/launcher/paths.ts';
import type { RunCommand } from '../commands.ts';
import type { WantedMasquerade } from './interfaces.ts';
import type { Link, Masquerade } from './masquerade.ts';
import { kernelSettings, linkCommands, ruleset } from './masquerade.ts';

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
    const links = JSON.parse(await inside('ip', ['-json', 'address', 'show'])) as Link[];
    const mtu = links.find(({ ifname }) => ifname === UPLINK)?.mtu;
    if (mtu === undefined) {
      throw new Error(`the launcher Pod has no interface ${UPLINK}: check the node's CNI configuration`);
    }
    const all: Masquerade = { ...want, uplink: UPLINK, mtu };
    for (const command of linkCommands(all, links)) await inside('ip', command);
    // The launcher's DHCP answers must carry whole checksums: many guests' DHCP clients look at raw frames.
    await inside('ethtool', ['-K', BRIDGE_DEVICE, 'tx', 'off']);
    for (const [file, value] of Object.entries(kernelSettings()))
      await inside('tee', [`/proc/sys/${file}`], { input: value });
    await inside('nft', ['-f', '-'], { input: ruleset(all) });
    return { mtu };
  },
});
