import { readFile, stat } from 'node:fs/promises';
import type { NodeActivities } from '../../api/contract/activities.ts';
import { withDefaults } from '../../api/defaults/index.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import { COMPUTE } from '../facts/labels.ts';
import { withLauncher } from './connect.ts';
import { provideImages } from './container-disks/index.ts';
import { hostFacts, parseCpuList } from './host-facts.ts';
import { wantedNetwork } from './network/interfaces.ts';
import type { Container } from './pods/container.ts';
import { openContainer } from './pods/container.ts';
import type { NodePorts } from './ports.ts';
import type { Beating } from './progress.ts';
import { withHeartbeat } from './progress.ts';
import { readInstance, verifyLivePod } from './verify.ts';
import { verifyToken } from './verify-token.ts';
import { readClaims } from './volumes/claims.ts';
import { diskFiles } from './volumes/disk-files.ts';
import { provideDiskFile } from './volumes/provide.ts';

/** The launcher renames its socket within a second of its container's start; more on a node under load. */
const LAUNCHER_WAIT_MS = 30_000;

/**
 * Hands a VMI over to its launcher: disks, network, SyncVMI under the token's live epoch. Safe to run twice, also under a running guest, and to be
 * killed anywhere: everything that is there already stays.
 */
export const syncInstance =
  (ports: NodePorts): NodeActivities['syncInstance'] =>
  ({ vmi: ref, pod: podRef, epoch, paused = false }) =>
    withHeartbeat(ports, async (progress) => {
      const request = { vmi: ref, pod: podRef, epoch };
      const pod = await verifyLivePod(ports, request);
      await verifyToken(ports, request);
      const config = await ports.clusterConfig();
      const vmi = withDefaults(await readInstance(ports, ref), config);
      const facts = await prepareLauncher(ports, { vmi, pod, config }, progress);
      // Again, because what came before can have taken long: from here on only the launcher's own check of the epoch follows.
      await verifyToken(ports, request);
      progress.report('starting the domain');
      const sync = {
        vmiUid: ref.uid,
        vmiJson: JSON.stringify(vmi),
        tokenEpoch: epoch,
        hostJson: JSON.stringify(facts),
        paused,
      };
      return withLauncher(ports, request, (launcher) => launcher.syncVMI(sync), {
        waitMs: LAUNCHER_WAIT_MS,
        cancelled: progress.cancelled,
      });
    });

interface Prepared {
  vmi: VirtualMachineInstance;
  pod: Pod;
  config: Awaited<ReturnType<NodePorts['clusterConfig']>>;
}

/** Images, volumes and network, as the launcher's container sees them. */
const prepareLauncher = async (
  ports: NodePorts,
  { vmi, pod, config }: Prepared,
  progress: Beating,
): Promise<HostFacts> => {
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
    return hostFacts(vmi, config, claims, { ...(await sightOf(launcher)), ...uplink, backingFormats });
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
