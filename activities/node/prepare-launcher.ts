import { readFile, stat } from 'node:fs/promises';
import { withDefaults } from '../../api/defaults/index.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import { COMPUTE } from '../facts/labels.ts';
import { provideImages } from './container-disks/index.ts';
import type { LauncherSight } from './host-facts.ts';
import { hostFacts, parseCpuList } from './host-facts.ts';
import type { WantedMasquerade } from './network/interfaces.ts';
import { wantedNetwork } from './network/interfaces.ts';
import { awaitContainer } from './pods/await-container.ts';
import type { Container } from './pods/container.ts';
import type { NodePorts } from './ports.ts';
import type { Beating } from './progress.ts';
import type { OnPod } from './verify.ts';
import { readInstance, verifyLivePod } from './verify.ts';
import { together } from './together.ts';
import { readClaims } from './volumes/claims.ts';
import type { DiskFile } from './volumes/disk-files.ts';
import { diskFiles } from './volumes/disk-files.ts';
import { provideDiskFile } from './volumes/provide.ts';

/** The launcher renames its socket within a second of its container's start; more on a node under load. */
export const LAUNCHER_WAIT_MS = 30_000;

export interface Prepared {
  /** With all defaults filled in. */
  vmi: VirtualMachineInstance;
  host: HostFacts;
}

/**
 * Live read of the VMI; then images, volumes and network as the launcher's container sees them, each as soon as what it needs is there. Safe to repeat
 * under a running guest, and to be killed anywhere: everything that is there already stays.
 * @throws ObjectGone, InvalidSpec, ImageContent, VolumeNotFound, VolumeNotReady, PodNotReady, PodFailed
 */
export const prepareLauncher = async (
  ports: NodePorts,
  { on, pod }: { on: OnPod; pod: Pod },
  progress: Beating,
): Promise<Prepared> => {
  const [config, instance] = await Promise.all([ports.clusterConfig(), readInstance(ports, on.vmi)]);
  const vmi = withDefaults(instance, config);
  const claims = await readClaims(ports.kube, vmi);
  const wanted = wantedNetwork(vmi);
  const [backingFormats, sight] = await together(progress.cancelled, (cancelled) => {
    const opening = (until: AbortSignal) => (container: string) =>
      awaitContainer(ports, pod, container, { read: () => verifyLivePod(ports, on), cancelled: until });
    return [
      provideImages(ports, { vmi, pod, config, opening }, { ...progress, cancelled }),
      furnish(ports, opening(cancelled), { wanted, disks: diskFiles(vmi, claims) }, progress),
    ] as const;
  });
  return { vmi, host: hostFacts(vmi, config, claims, { ...sight, backingFormats }) };
};

/** Disk images and network of the launcher's container; what was seen of it. */
const furnish = async (
  { network }: NodePorts,
  open: (container: string) => Promise<Container>,
  { wanted, disks }: { wanted: WantedMasquerade | undefined; disks: DiskFile[] },
  progress: Beating,
): Promise<Omit<LauncherSight, 'backingFormats'>> => {
  const launcher = await open(COMPUTE);
  try {
    for (const disk of disks) {
      progress.report(`volume ${disk.volume}`);
      await provideDiskFile(launcher.root, disk);
    }
    progress.report('network');
    const uplink = wanted && (await network.ensureMasquerade(launcher.network, wanted));
    return { ...(await sightOf(launcher)), ...uplink };
  } finally {
    await launcher.close();
  }
};

const sightOf = async ({ pid, root }: Container): Promise<{ kvm: boolean; cpus: number[] }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '';
  const kvm = await stat(`${root}/dev/kvm`).then(
    (device) => device.isCharacterDevice(),
    () => false,
  );
  return { kvm, cpus: parseCpuList(list) };
};
