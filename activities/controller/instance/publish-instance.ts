import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { APP_LABEL, CREATED_BY_LABEL, LAUNCHER_APP } from '../../facts/labels.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts, TokenPorts } from '../ports.ts';
import { fromCacheFirst, ifStillThere } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { eventsOf } from './events.ts';
import { instancePatch, isPast } from './instance-status.ts';
import { findInstance } from './read.ts';
import { publishGates } from './readiness-gate.ts';
import { surroundings } from './surroundings.ts';

type Ports = TokenPorts & Pick<ControllerPorts, 'clock' | 'config' | 'launcherImage' | 'log' | 'cached' | 'around'>;

/** Brings status and labels of the VMI, and its Pods' readiness gates, to what the entity reports; writes only what differs. */
export const publishInstance = (ports: Ports): ControllerActivities['publishInstance'] => {
  const write = instanceWriter(ports);
  return async (request) => void (await write(request));
};

/** The same, which also says what it has written. */
export const instanceWriter =
  (ports: Ports) =>
  async ({
    vmi: ref,
    report,
  }: {
    vmi: ObjectRef;
    report: InstanceReport;
  }): Promise<VirtualMachineInstance | undefined> => {
    const { kube, clock, config, launcherImage } = ports;
    const now = (): string => clock().toISOString();
    const known = cachedPods(ports, report);
    const found = known ?? (await domainPods(kube, ref, report));
    const pod = found.find(({ metadata }) => metadata?.uid === report.domain?.podUid);
    let first = known === undefined ? found : undefined;
    const openGates = (): Promise<void> =>
      fromCacheFirst(known, async (cached) => {
        const pods = cached ?? first ?? (await domainPods(kube, ref, report));
        first = undefined;
        return { wrote: await publishGates(ports, ref, pods, report, now()), value: undefined };
      });
    const tellStatus = (): Promise<VirtualMachineInstance | undefined> =>
      fromCacheFirst(ports.cached?.('VirtualMachineInstance', ref.uid), async (known) => {
        const vmi = known ?? (await findInstance(kube, ref));
        if (vmi === undefined || isPast(vmi, report)) return { wrote: false, value: undefined };
        const around = await surroundings(ports, vmi, report, config());
        const patch = instancePatch(vmi, report, { ...around, pod, launcherImage, now: now() });
        const writing = patch === undefined ? undefined : writeStatus(kube, ref, vmi, patch);
        // Told beside the write, not after it, since a write that succeeds leaves nothing to compare with; but not of what may be past.
        if (known !== undefined) await writing;
        const [written] = await Promise.all([
          writing,
          ...eventsOf(vmi, report).map((event) =>
            recordEvent(ports, { kind: 'VirtualMachineInstance', ref, ...event }),
          ),
        ]);
        return { wrote: patch !== undefined, value: written };
      });
    const [written] = await Promise.all([tellStatus(), openGates()]);
    return written;
  };

const writeStatus = async (
  kube: KubePort,
  ref: ObjectRef,
  { metadata: live }: VirtualMachineInstance,
  patch: Record<string, unknown>,
): Promise<VirtualMachineInstance | undefined> => {
  const { uid, resourceVersion } = live ?? {};
  const metadata = { ...(patch['metadata'] as object | undefined), uid, resourceVersion, ...untracked(live) };
  return ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, { ...patch, metadata }));
};

/**
 * Who set which field is not kept of a VMI that a VM owns: nobody applies it, and to keep it is a third of what each of its writes costs the API server.
 * One empty entry ends it (the API server's way to say so).
 */
const untracked = (live: VirtualMachineInstance['metadata']): { managedFields?: object[] } => {
  const isOwned = live?.ownerReferences?.some(({ controller }) => controller === true) === true;
  return isOwned && live.managedFields !== undefined ? { managedFields: [{}] } : {};
};

/** The VMI's launcher Pods, live; none while nothing runs, when nobody asks for them. */
const domainPods = async (kube: KubePort, ref: ObjectRef, report: InstanceReport): Promise<Pod[]> => {
  const { phase, domain, activePods } = report;
  const isAsked = domain === undefined ? phase === 'Running' : domain.podUid in activePods;
  if (!isAsked) return [];
  const labelSelector = `${APP_LABEL}=${LAUNCHER_APP},${CREATED_BY_LABEL}=${ref.uid}`;
  return kube.list('Pod', { namespace: ref.namespace, labelSelector });
};

/** The Pods of a start that has come to its end, as a watch has shown them: a single one, with its address, whose gate is still to be opened. */
const cachedPods = ({ cached }: Pick<ControllerPorts, 'cached'>, report: InstanceReport): Pod[] | undefined => {
  const { phase, domain, activePods, migration } = report;
  const uids = Object.keys(activePods);
  if (phase !== 'Running' || domain === undefined || migration !== undefined || uids.length !== 1) return undefined;
  const pod = uids[0] === domain.podUid ? cached?.('Pod', domain.podUid) : undefined;
  if (pod?.status?.podIP === undefined || pod.metadata?.deletionTimestamp !== undefined) return undefined;
  return [pod];
};
