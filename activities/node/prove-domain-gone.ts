import type { GoneEvidence, NodeActivities } from '../../api/contract/activities.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { DomainReport, DomainState } from '../../api/launcher/reports.ts';
import { COMPUTE } from '../facts/labels.ts';
import { failure } from '../failures.ts';
import { withLauncher } from './connect.ts';
import { releaseImages } from './container-disks/index.ts';
import { isUnreachable } from './launcher-client/errors.ts';
import { lastReport } from './launcher-client/sockets.ts';
import { bareContainerId, isInContainer } from './pods/cgroup.ts';
import { containerStatus } from './pods/container.ts';
import type { PodProcess } from './pods/processes.ts';
import { isQemu } from './pods/processes.ts';
import { qemuAfter } from './pods/qemu.ts';
import type { NodePorts } from './ports.ts';
import type { OnPod } from './verify.ts';
import { verifyPod } from './verify.ts';

const NO_DOMAIN: readonly DomainState[] = ['none', 'shutoff', 'crashed'];

/** QEMU's process ends shortly after libvirt has said so. */
const QEMU_EXIT_MS = 5_000;

/**
 * Evidence that no domain runs in a Pod: (a) its launcher says so and no QEMU process is left, or (b) no process is left on its node of the Pod, its
 * sandbox's included, or of the container in which alone a domain can run. Silence proves nothing. Then unmounts what was mounted for the Pod.
 * @throws StillRunning, Unproven
 */
export const proveDomainGone =
  (ports: NodePorts): NodeActivities['proveDomainGone'] =>
  async (request) => {
    const live = await verifyPod(ports, request);
    const evidence = (await nothingLeft(ports, request, live)) ?? (await launcherSaysSo(ports, request, live));
    await releaseImages(ports, request.pod.uid);
    return evidence;
  };

const nothingLeft = async (ports: NodePorts, { vmi, pod }: OnPod, live?: Pod): Promise<GoneEvidence | undefined> => {
  const detail = whatHasEnded(await ports.processes.ofPod(pod.uid), live);
  if (detail === undefined) return undefined;
  const last = await lastReport(ports.pods, pod.uid);
  return {
    by: 'nodeWorker',
    detail: `node ${ports.node} runs no process of ${detail} Pod ${pod.name} (uid ${pod.uid})`,
    ...(last?.vmi.uid === vmi.uid ? { lastReport: { ...last, podUid: pod.uid, node: ports.node } } : {}),
  };
};

/** Containers that hold images outlive the launcher's. The API server's word which container that was is enough: it never starts again. */
const whatHasEnded = (processes: PodProcess[], live: Pod | undefined): string | undefined => {
  if (processes.length === 0) return 'the';
  const compute = live && bareContainerId(containerStatus(live, COMPUTE)?.containerID);
  if (compute === undefined) return undefined;
  const mayRun = processes.some((process) => isQemu(process) || isInContainer(process.cgroup, compute));
  return mayRun ? undefined : `container ${COMPUTE} of the`;
};

const launcherSaysSo = async (ports: NodePorts, request: OnPod, live?: Pod): Promise<GoneEvidence> => {
  const { pod } = request;
  let report: DomainReport;
  try {
    report = await withLauncher(ports, request, (launcher) => launcher.getDomain(request.vmi.uid));
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    // It may have ended while it was asked.
    return (await nothingLeft(ports, request, live)) ?? unproven(await ports.processes.ofPod(pod.uid), request, error);
  }
  if (!NO_DOMAIN.includes(report.state)) {
    throw failure('StillRunning', `the launcher of Pod ${pod.name} says that the domain is ${report.state}`);
  }
  const qemu = await qemuAfter(ports.processes, pod.uid, QEMU_EXIT_MS);
  if (qemu !== undefined) {
    throw failure(
      'StillRunning',
      `Pod ${pod.name}: libvirt has no running domain, but QEMU (pid ${qemu.pid}) is there`,
    );
  }
  return {
    by: 'launcher',
    detail: `the launcher of Pod ${pod.name} says ${report.state}, and no QEMU process is left`,
    lastReport: report,
  };
};

const unproven = (processes: PodProcess[], { pod }: OnPod, cause: unknown): never => {
  const qemu = processes.find(isQemu);
  if (qemu !== undefined) {
    throw failure(
      'StillRunning',
      `Pod ${pod.name} runs QEMU (pid ${qemu.pid}), and its launcher does not answer`,
      cause,
    );
  }
  throw failure(
    'Unproven',
    `the launcher of Pod ${pod.name} does not answer, and ${processes.length} of its processes are left: nothing tells whether it is done`,
    cause,
  );
};
