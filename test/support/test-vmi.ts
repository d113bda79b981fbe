import { effectiveConfiguration } from '../../api/cluster-config/index.ts';
import { withDefaults } from '../../api/defaults/index.ts';
import type { Devices, Disk, Features, Firmware, VirtualMachineInstance, Volume } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import { FAST_BOOT } from './test-guest.ts';

export interface TestVmiOptions {
  kernelArgs?: string;
  network?: boolean;
  volumes?: Volume[];
  /** Beside those of the test guest. */
  firmware?: Firmware;
  devices?: Devices;
  features?: Features;
}

/** A VMI that boots the test guest from its kernel, with all defaults filled in as the node worker does. */
export function testVmi(
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  { kernelArgs = '', network = false, volumes = [], firmware = {}, devices = {}, features = {} }: TestVmiOptions = {},
): VirtualMachineInstance {
  const vmi: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace, name, uid },
    spec: {
      domain: {
        cpu: { cores: 1, model: 'qemu64' },
        memory: { guest: '160Mi', maxGuest: '640Mi' },
        resources: {},
        features,
        devices: {
          ...devices,
          disks: volumes.map(({ name }): Disk => ({ name, disk: { bus: 'virtio' } })),
          ...(network ? { interfaces: [{ name: 'default', masquerade: {} }] } : { autoattachPodInterface: false }),
        },
        firmware: {
          ...firmware,
          kernelBoot: {
            kernelArgs: `${FAST_BOOT} ${kernelArgs}`,
            container: { image: 'guest', kernelPath: '/vmlinuz', initrdPath: '/initrd' },
          },
        },
      },
      volumes,
      ...(network ? { networks: [{ name: 'default', pod: {} }] } : {}),
    },
  };
  const config = effectiveConfiguration({
    spec: { configuration: { developerConfiguration: { useEmulation: true } } },
  } as Parameters<typeof effectiveConfiguration>[0]);
  return withDefaults(vmi, config);
}

/** A host without KVM. */
export const testHost: HostFacts = {
  useEmulation: true,
  kvmAvailable: false,
  memBalloonStatsPeriod: 10,
  serialConsoleLog: true,
  freePageReporting: false,
  bochsForEFIGuests: true,
  cpuSet: [],
  isBlockVolume: {},
  domainAttachment: { default: 'tap' },
};
