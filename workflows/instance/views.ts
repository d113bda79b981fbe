import type { EntityStatus } from '../../api/contract/entities.ts';
import type { Attributes } from '../../api/contract/keywords.ts';
import { reportOf } from './report.ts';
import type { InstanceState } from './state.ts';

/** Answer of the query. */
export const statusOf = ({ ref, phase, operation, failed }: InstanceState): EntityStatus => ({
  ...{ ref, phase: phase === '' ? 'Pending' : phase },
  ...(operation === undefined ? {} : { operation: operation.id }),
  ...(failed === undefined ? {} : { failedOperation: { id: failed.id, failure: failed.failure } }),
});

export const attributesOf = ({ ref, object, phase, pod, operation, failed, target }: InstanceState): Attributes => ({
  ...{ VmNamespace: ref.namespace, VmName: ref.name, VmUid: object?.owner?.uid ?? ref.uid },
  ...{ Phase: phase, Operation: operation?.kind, NodeName: pod?.node, FailureReason: failed?.failure.type },
  ...{ MigrationUid: operation?.migration?.uid, TargetNode: target?.pod.node },
});

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (state: InstanceState): string => {
  const { ref, phase, pod, operation, failed, domain, target } = state;
  const conditions = reportOf(state).conditions.map(
    ({ type, status, reason, message }) =>
      `- ${type} is ${status}${reason === undefined ? '' : ` (${reason})`}${message === undefined ? '' : `: ${message}`}`,
  );
  return [
    `**${ref.namespace}/${ref.name}: ${phase}**`,
    ...(pod === undefined
      ? []
      : [`Pod ${pod.name} on ${pod.node ?? 'no node yet'}, domain ${domain?.state ?? 'unknown'}`]),
    ...(target === undefined ? [] : [`Moving to Pod ${target.pod.name} on ${target.pod.node ?? 'no node yet'}`]),
    ...(operation === undefined ? [] : [`Under way: ${operation.id} (${operation.phase})`]),
    ...(failed === undefined ? [] : [`Failed: ${failed.id}: ${failed.failure.message}`]),
    ...['', ...conditions],
  ].join('\n');
};
