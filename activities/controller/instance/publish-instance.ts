import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { APP_LABEL, CREATED_BY_LABEL, LAUNCHER_APP } from '../../facts/labels.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { eventsOf } from './events.ts';
import { instancePatch } from './instance-status.ts';
import { findInstance } from './read.ts';
import { publishGates } from './readiness-gate.ts';
import { surroundings } from './surroundings.ts';

/** Brings status and labels of the VMI, and its Pods' readiness gates, to what the entity reports; writes only what differs. */
export const publishInstance =
  (
    ports: Pick<ControllerPorts, 'kube' | 'clock' | 'config' | 'launcherImage' | 'log'>,
  ): ControllerActivities['publishInstance'] =>
  async ({ vmi: ref, report }) => {
    const { kube, clock, config, launcherImage } = ports;
    const now = (): string => clock().toISOString();
    const found = await domainPods(kube, ref, report);
    const pod = found.find(({ metadata }) => metadata?.uid === report.domain?.podUid);
    const openGates = async (): Promise<void> => {
      let pods: Pod[] | undefined = found;
      await onConflictAgain(async () => {
        await publishGates(kube, ref, pods ?? (await domainPods(kube, ref, report)), report, now());
        pods = undefined;
      });
    };
    const tellStatus = (): Promise<void> =>
      onConflictAgain(async () => {
        const vmi = await findInstance(kube, ref);
        if (vmi === undefined) return;
        const around = await surroundings(kube, vmi, report, config());
        const patch = instancePatch(vmi, report, { ...around, pod, launcherImage, now: now() });
        // Told beside the write, not after it: a write that succeeds leaves nothing to compare with.
        await Promise.all([
          patch === undefined ? undefined : writeStatus(kube, ref, vmi, patch),
          ...eventsOf(vmi, report).map((event) =>
            recordEvent(ports, { kind: 'VirtualMachineInstance', ref, ...event }),
          ),
        ]);
      });
    await Promise.all([openGates(), tellStatus()]);
  };

const writeStatus = async (
  kube: KubePort,
  ref: ObjectRef,
  { metadata: live }: VirtualMachineInstance,
  patch: Record<string, unknown>,
): Promise<void> => {
  const { uid, resourceVersion } = live ?? {};
  const metadata = { ...(patch['metadata'] as object | undefined), uid, resourceVersion };
  await ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, { ...patch, metadata }));
};

/** The VMI's launcher Pods, live; none while nothing runs, when nobody asks for them. */
const domainPods = async (kube: KubePort, ref: ObjectRef, report: InstanceReport): Promise<Pod[]> => {
  const { phase, domain, activePods } = report;
  const isAsked = domain === undefined ? phase === 'Running' : domain.podUid in activePods;
  if (!isAsked) return [];
  const labelSelector = `${APP_LABEL}=${LAUNCHER_APP},${CREATED_BY_LABEL}=${ref.uid}`;
  return kube.list('Pod', { namespace: ref.namespace, labelSelector });
};
