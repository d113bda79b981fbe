import type { InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { NODE_NAME_LABEL, UNPAUSED_GATE } from '../../facts/labels.ts';
import type { Condition } from '../conditions.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { ifStillThere } from '../races.ts';
import type { TokenPorts } from '../ports.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';

type Gate = { status: 'True' | 'False'; reason: string; message: string };

const OPEN: Gate = { status: 'True', reason: 'NotPaused', message: 'the guest is not paused' };
const PAUSED: Gate = { status: 'False', reason: 'Paused', message: 'the guest is paused' };
const ELSEWHERE: Gate = { status: 'False', reason: 'GuestElsewhere', message: 'the guest runs in another Pod' };

const liveGate = (pod: Pod): Condition | undefined =>
  pod.status?.conditions?.find(({ type }) => type === UNPAUSED_GATE);

/**
 * The readiness gate that a launcher Pod is to have, by which Services route to it or not; undefined: it stays as it is. Unset is as good as False.
 * Only the Pod that holds the run token gets True: a migration's target not before the token has moved, and the source no longer.
 * @param holder uid of the Pod that holds the token
 */
export const gateOf = (pod: Pod, report: InstanceReport, holder: string | undefined): Gate | undefined => {
  if (pod.metadata?.uid !== holder) return liveGate(pod)?.status === 'True' ? ELSEWHERE : undefined;
  // While the guest has not run the gate stays unset; what another Pod reports says nothing about this one.
  if (report.phase !== 'Running' || report.domain?.podUid !== holder) return undefined;
  return isTrue({ status: report }, 'Paused') ? PAUSED : OPEN;
};

/** The Pod's conditions with the gate as it should be; undefined when it is so already. */
export const gatedConditions = (
  pod: Pod,
  report: InstanceReport,
  holder: string | undefined,
  now: string,
): Condition[] | undefined => {
  const gate = gateOf(pod, report, holder);
  if (gate === undefined || liveGate(pod)?.status === gate.status) return undefined;
  const live: Condition[] = pod.status?.conditions ?? [];
  return mergeConditions(live, [{ type: UNPAUSED_GATE, ...gate }], (type) => type === UNPAUSED_GATE, timestamp(now));
};

/** The Pod that runs the guest says where, as the VMI does, for whoever selects Pods by it. */
const placed = ({ metadata, spec }: Pod, holder: string | undefined): { labels?: Record<string, string> } =>
  metadata?.uid === holder && spec?.nodeName !== undefined ? { labels: { [NODE_NAME_LABEL]: spec.nodeName } } : {};

/**
 * Writes the gates of the VMI's Pods, those to close first. The token is read only if a gate would change were the Pod that reports the holder, and
 * another Pod may be it. The kubelet writes the same list, hence the resourceVersion.
 * @returns whether there was a gate to write
 */
export const publishGates = async (
  { kube, tokens }: TokenPorts,
  vmi: ObjectRef,
  pods: Pod[],
  report: InstanceReport,
  now: string,
): Promise<boolean> => {
  const changesWith = (holder: string | undefined): { pod: Pod; conditions: Condition[] }[] =>
    pods.flatMap((pod) => {
      const conditions = gatedConditions(pod, report, holder, now);
      return conditions === undefined ? [] : [{ pod, conditions }];
    });
  if (changesWith(report.domain?.podUid).length === 0) return false;
  // A token that was removed by hand, or names no Pod, leaves the word of whoever reports.
  const isOnly = pods.length === 1 && report.migration === undefined && Object.keys(report.activePods).length <= 1;
  const token = isOnly ? undefined : (await tokens.read(vmi))?.token;
  const holder = token?.holder?.pod?.uid ?? report.domain?.podUid;
  const isOpening = ({ pod }: { pod: Pod }): number => (pod.metadata?.uid === holder ? 1 : 0);
  for (const { pod, conditions } of changesWith(holder).sort((a, b) => isOpening(a) - isOpening(b))) {
    const { namespace = '', name = '', resourceVersion } = pod.metadata ?? {};
    const patch = { metadata: { resourceVersion, ...placed(pod, holder) }, status: { conditions } };
    await ifStillThere(kube.mergePatch('Pod', { namespace, name }, patch, { subresource: 'status' }));
  }
  return true;
};
