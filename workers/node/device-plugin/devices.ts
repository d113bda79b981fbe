import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A device of the node that launchers ask the kubelet for. It is shared, not used up: the count only bounds the Pods of a node. */
export interface Device {
  resource: string;
  /** On the host, and at the same place in the launcher. */
  path: string;
}

export const DEVICES: Device[] = [
  { resource: 'devices.kubevirt.io/kvm', path: '/dev/kvm' },
  { resource: 'devices.kubevirt.io/tun', path: '/dev/net/tun' },
  { resource: 'devices.kubevirt.io/vhost-net', path: '/dev/vhost-net' },
];

/** Only where KVM boots guests: a device that is there may do nothing of the kind. */
export const devicesFor = ({ kvm }: { kvm: { usable: boolean } }): Device[] =>
  DEVICES.filter(({ path }) => path !== '/dev/kvm' || kvm.usable);

/** How many Pods may hold a device at once (KubeVirt's maximum). */
export const SHARES = 1000;

const OTHERS_READ_WRITE = 0o006;

/**
 * The devices that this node has. A device node in a container carries the host's mode, and launchers are not root: whatever is present is opened
 * to others, as KubeVirt does.
 */
export const presentDevices = async (hostRoot: string, devices: readonly Device[] = DEVICES): Promise<Device[]> => {
  const present: Device[] = [];
  for (const device of devices) {
    const file = join(hostRoot, device.path);
    const mode = await stat(file).then(
      (entry) => (entry.isCharacterDevice() ? entry.mode & 0o777 : undefined),
      () => undefined,
    );
    if (mode === undefined) continue;
    if ((mode & OTHERS_READ_WRITE) !== OTHERS_READ_WRITE) await chmod(file, mode | OTHERS_READ_WRITE);
    present.push(device);
  }
  return present;
};
