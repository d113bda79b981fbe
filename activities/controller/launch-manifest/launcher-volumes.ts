import { LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Mounted } from './mounted.ts';

const HUGEPAGES = '/dev/hugepages';

/** Directories that the launcher and the node worker share; what the node mounts into one of them reaches the running container. */
export const launcherVolumes = (vmi: VirtualMachineInstance): Mounted[] => [
  ...Object.values(LAUNCHER_VOLUMES).map(({ name, path }) => ({
    volume: { name, emptyDir: {} },
    mount: {
      name,
      mountPath: path,
      ...(name === LAUNCHER_VOLUMES.containerDisks.name ? { mountPropagation: 'HostToContainer' } : {}),
    },
  })),
  ...(vmi.spec.domain.memory?.hugepages === undefined
    ? []
    : [hugepages('hugepages', HUGEPAGES), hugepages('hugetblfs-dir', `${HUGEPAGES}/libvirt/qemu`)]),
];

const hugepages = (name: string, mountPath: string): Mounted => ({
  volume: { name, emptyDir: { medium: 'HugePages' } },
  mount: { name, mountPath },
});
