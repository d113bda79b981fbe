import { readFile, stat } from 'node:fs/promises';
import { withDefaults } from '../../api/defaults/index.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import { COMPUTE } from '../facts/labels.ts';
import { provideImages } from './container-disks/index.ts';
import { hostFacts, parseCpuList } from './host-facts.ts';
import { wantedNetwork } from './network/interfaces.ts';
import type { Container } from './pods/container.ts';
import { openContainer } from './pods/container.ts';
import type { NodePorts } from './ports.ts';
import type { Beating } from './progress.ts';
import { readInstance } from './verify.ts';
import { readClaims } from './volumes/claims.ts';
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
 * Live read of the VMI; then images, volumes and network as the launcher's container sees them. Safe to repeat under a running guest, and to be killed
 * anywhere: everything that is there already stays.
 * @throws ObjectGone, InvalidSpec, ImageContent, VolumeNotFound, VolumeNotReady, PodFailed
 */
export const prepareLauncher = async (
  ports: NodePorts,
  { vmi: ref, pod }: { vmi: ObjectRef; pod: Pod },
  progress: Beating,
): Promise<Prepared> => {
  const config = await ports.clusterConfig();
  const vmi = withDefaults(await readInstance(ports, ref), config);
  const backingFormats = await provideImages(ports, { vmi, pod, config }, progress.report);
  const claims = await readClaims(ports.kube, vmi);
  const launcher = await openContainer(ports.processes, pod, COMPUTE);
  try {
    for (const disk of diskFiles(vmi, claims)) {
      progress.report(`volume ${disk.volume}`);
      await provideDiskFile(launcher.root, disk);
    }
    progress.report('network');
    const network = wantedNetwork(vmi);
    const uplink = network && (await ports.network.ensureMasquerade(launcher.network, network));
    const host = hostFacts(vmi, config, claims, { ...(await sightOf(launcher)), ...uplink, backingFormats });
    return { vmi, host };
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
