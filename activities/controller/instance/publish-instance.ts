import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { APP_LABEL, CREATED_BY_LABEL, LAUNCHER_APP } from '../../facts/labels.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { instancePatch } from './instance-status.ts';
import { findInstance } from './read.ts';
import { publishGate } from './readiness-gate.ts';

/** Brings status and labels of the VMI, and its Pod's readiness gate, to what the entity reports; writes only what differs. */
export const publishInstance =
  ({ kube, clock }: Pick<ControllerPorts, 'kube' | 'clock'>): ControllerActivities['publishInstance'] =>
  async ({ vmi: ref, report }) => {
    await onConflictAgain(async () => {
      const pod = await domainPod(kube, ref, report);
      if (pod !== undefined) await publishGate(kube, pod, report, clock().toISOString());
    });
    await onConflictAgain(async () => {
      const [vmi, pod] = await Promise.all([findInstance(kube, ref), domainPod(kube, ref, report)]);
      if (vmi === undefined) return;
      const patch = instancePatch(vmi, report, pod, clock().toISOString());
      if (patch === undefined) return;
      const { uid, resourceVersion } = vmi.metadata ?? {};
      const metadata = { ...(patch['metadata'] as object | undefined), uid, resourceVersion };
      await ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, { ...patch, metadata }));
    });
  };

/** The Pod that the domain runs in, by uid; undefined while nothing runs, when nobody asks for it. */
const domainPod = async (kube: KubePort, ref: ObjectRef, report: InstanceReport): Promise<Pod | undefined> => {
  const { domain, activePods } = report;
  if (domain === undefined || !(domain.podUid in activePods)) return undefined;
  const labelSelector = `${APP_LABEL}=${LAUNCHER_APP},${CREATED_BY_LABEL}=${ref.uid}`;
  const pods = await kube.list('Pod', { namespace: ref.namespace, labelSelector });
  return pods.find(({ metadata }) => metadata?.uid === domain.podUid);
};
