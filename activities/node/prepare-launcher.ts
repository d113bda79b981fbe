import { readFile, stat } from 'node:fs/promises';
import { withDefaults } from '../../api/defaults/index.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import { COMPUTE } from '../facts/labels.ts';
import { failure } from '../failures.ts';
import { provideImages } from './container-disks/index.ts';
import type { LauncherSight } from './host-facts.ts';
import { hostFacts, parseCpuList } from './host-facts.ts';
import type { WantedMasquerade } from './network/interfaces.ts';
import { wantedNetwork } from './network/interfaces.ts';
import { awaitContainer, awaitNetwork } from './pods/await-container.ts';
import type { Container } from './pods/container.ts';
import type { PodNetworkNamespace } from './pods/network-namespace.ts';
import { networkIdOf } from './pods/network-namespace.ts';
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
  const [backingFormats, sight, uplink] = await together(progress.cancelled, (cancelled) => {
    const read = (): Promise<Pod> => verifyLivePod(ports, on);
    const opening = (until: AbortSignal) => (container: string) =>
      awaitContainer(ports, pod, container, { read, cancelled: until });
    return [
      provideImages(ports, { vmi, pod, config, opening }, { ...progress, cancelled }),
      furnish(opening(cancelled), diskFiles(vmi, claims), progress),
      wanted === undefined
        ? Promise.resolve(undefined)
        : connectGuest(ports, awaitNetwork(ports, pod, { read, cancelled }), wanted, progress),
    ] as const;
  });
  if (uplink !== undefined && uplink.networkId !== sight.networkId) throw madeAnew(pod);
  return { vmi, host: hostFacts(vmi, config, claims, { ...sight, ...uplink, backingFormats }) };
};

/** The next try sets up the network that the launcher is in. */
const madeAnew = ({ metadata }: Pod): Error =>
  failure(
    'PodNotReady',
    `the sandbox of Pod ${metadata?.namespace ?? ''}/${metadata?.name ?? ''} was made anew while its network was set up`,
  );

type Open = (container: string) => Promise<Container>;

/** Disk images of the launcher's container; what was seen of it. */
const furnish = async (
  open: Open,
  disks: DiskFile[],
  progress: Beating,
): Promise<Pick<LauncherSight, 'kvm' | 'cpus'> & { networkId: string }> => {
  const launcher = await open(COMPUTE);
  try {
    for (const disk of disks) {
      progress.report(`volume ${disk.volume}`);
      await provideDiskFile(launcher.root, disk);
    }
    return await sightOf(launcher);
  } finally {
    await launcher.close();
  }
};

/** The guest's network, while the Pod's containers are still being made. */
const connectGuest = async (
  { network }: NodePorts,
  opening: Promise<PodNetworkNamespace>,
  wanted: WantedMasquerade,
  progress: Beating,
): Promise<{ mtu: number; networkId: string }> => {
  const namespace = await opening;
  try {
    progress.report('network');
    return { ...(await network.ensureMasquerade(namespace.path, wanted)), networkId: namespace.id };
  } finally {
    await namespace.close();
  }
};

const sightOf = async ({ pid, root }: Container): Promise<{ kvm: boolean; cpus: number[]; networkId: string }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '';
  const kvm = await stat(`${root}/dev/kvm`).then(
    (device) => device.isCharacterDevice(),
    () => false,
  );
  return { kvm, cpus: parseCpuList(list), networkId: await networkIdOf(pid) };
};
