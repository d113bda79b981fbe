import type { ConditionReport, ControllerActivities } from '../../../api/contract/activities.ts';
import type { ReplicaSetReport } from '../../../api/contract/replica-sets.ts';
import type { VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { REPLICA_SET, selectorText } from '../../facts/replica-set.ts';
import type { Condition } from '../conditions.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf } from '../merge-patch.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { findReplicaSet } from './read.ts';

const PAUSED = 'ReplicaPaused';
const FAILURE = 'ReplicaFailure';
const PAUSED_BY = 'Controller got paused';

/** Brings the status to what is reported; writes only what differs. That it is paused, or not any more, is told as KubeVirt tells it. */
export const publishReplicaSet =
  ({ kube, clock, log }: Pick<ControllerPorts, 'kube' | 'clock' | 'log'>): ControllerActivities['publishReplicaSet'] =>
  async ({ set: ref, report }) => {
    const was = await onConflictAgain(async () => {
      const set = await findReplicaSet(kube, ref);
      const patch = set === undefined ? undefined : replicaSetPatch(set, report, clock().toISOString());
      if (set === undefined || patch === undefined) return undefined;
      const { uid, resourceVersion } = set.metadata ?? {};
      const body = { ...patch, metadata: { uid, resourceVersion } };
      await ifStillThere(kube.mergePatch(REPLICA_SET, ref, body, { subresource: 'status' }));
      return { paused: (set.status?.conditions ?? []).some(({ type }) => type === PAUSED) };
    });
    if (was === undefined || was.paused === report.paused) return;
    const of = { kind: REPLICA_SET, ref } as const;
    await recordEvent(
      { kube, log },
      report.paused
        ? { ...of, reason: 'SuccessfulPaused', message: 'Paused' }
        : { ...of, reason: 'SuccessfulResumed', message: 'Resumed' },
    );
  };

/** What has to change in a status; undefined: nothing. Pure. @param now RFC 3339 */
export const replicaSetPatch = (
  { status, spec }: VirtualMachineInstanceReplicaSet,
  report: ReplicaSetReport,
  now: string,
): Record<string, unknown> | undefined => {
  const live = (status?.conditions ?? []) as Condition[];
  const conditions = mergeConditions(
    live,
    conditionsOf(report),
    (type) => type === PAUSED || type === FAILURE,
    timestamp(now),
  );
  const { replicas, readyReplicas } = report;
  const labelSelector = selectorText(spec.selector);
  return mergePatchOf({ status: status ?? {} }, { status: { replicas, readyReplicas, labelSelector, conditions } });
};

const conditionsOf = (report: ReplicaSetReport): ConditionReport[] => {
  const why = failureOf(report);
  return [
    ...(report.paused ? [{ type: PAUSED, status: 'True' as const, reason: 'Paused', message: PAUSED_BY }] : []),
    ...(why === undefined ? [] : [{ type: FAILURE, status: 'True' as const, ...why }]),
  ];
};

const failureOf = ({ failure, backOff }: ReplicaSetReport): { reason: string; message: string } | undefined => {
  if (failure !== undefined)
    return { reason: failure.while === 'creating' ? 'FailedCreate' : 'FailedDelete', message: failure.message };
  if (backOff === undefined) return undefined;
  const { failures, retryAt } = backOff;
  const message = `its VMIs end within a minute (failures in a row: ${failures}); the next are created at ${retryAt}`;
  return { reason: 'CrashLoopBackOff', message };
};
