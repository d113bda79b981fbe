import type { InstanceReport } from '../../../api/contract/activities.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { UNPAUSED_GATE } from '../../facts/labels.ts';
import type { KubePort } from '../../kube/port.ts';
import type { Condition } from '../conditions.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { ifStillThere } from '../races.ts';

/** Status of the launcher Pod's readiness gate: undefined while the guest has not run (the gate stays unset: not ready). */
const gateStatus = (report: InstanceReport): 'True' | 'False' | undefined => {
  if (report.phase !== 'Running') return undefined;
  return report.domain?.state === 'paused' ? 'False' : 'True';
};

/** The Pod's conditions with the gate as it should be; undefined when it is so already. */
export const gatedConditions = (pod: Pod, report: InstanceReport, now: string): Condition[] | undefined => {
  const status = gateStatus(report);
  const live: Condition[] = pod.status?.conditions ?? [];
  const before = live.find(({ type }) => type === UNPAUSED_GATE);
  if (status === undefined || before?.status === status) return undefined;
  const gate =
    status === 'True'
      ? { type: UNPAUSED_GATE, status, reason: 'NotPaused', message: 'the guest is not paused' }
      : { type: UNPAUSED_GATE, status, reason: 'Paused', message: 'the guest is paused' };
  return mergeConditions(live, [gate], (type) => type === UNPAUSED_GATE, timestamp(now));
};

/** Writes the gate on the Pod that runs the domain. The kubelet writes the same list, hence the resourceVersion. */
export const publishGate = async (kube: KubePort, pod: Pod, report: InstanceReport, now: string): Promise<void> => {
  const conditions = gatedConditions(pod, report, now);
  if (conditions === undefined) return;
  const { namespace = '', name = '', resourceVersion } = pod.metadata ?? {};
  const patch = { metadata: { resourceVersion }, status: { conditions } };
  await ifStillThere(kube.mergePatch('Pod', { namespace, name }, patch, { subresource: 'status' }));
};
