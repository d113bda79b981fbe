import type { EntityStatus } from '../../api/contract/entities.ts';
import { NO_INSTANCE } from '../../api/contract/search-attributes.ts';
import type { Attributes } from '../../api/contract/keywords.ts';
import { reportOf } from './report.ts';
import type { VirtualMachineState } from './state.ts';
import { pendingRequests } from './state.ts';

/** What the entity is about, in one word: the phase of the instance that there is, or is in a moment, or that there is none. */
const phaseOf = ({ instance, busy }: VirtualMachineState): string =>
  instance?.phase ?? (busy === 'create' ? 'Pending' : NO_INSTANCE);

/** Answer of the query. */
export const statusOf = (state: VirtualMachineState): EntityStatus => ({
  ...{ ref: state.ref, phase: phaseOf(state), requests: state.outcomes },
  ...(state.triggers === undefined ? {} : { triggers: state.triggers }),
});

export const attributesOf = (state: VirtualMachineState): Attributes => ({
  ...{ VmNamespace: state.ref.namespace, VmName: state.ref.name, VmUid: state.ref.uid },
  ...{ Phase: phaseOf(state), FailureReason: reportOf(state).conditions[0]?.reason },
});

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (state: VirtualMachineState): string => {
  const { ref, object, instance, startFailures, outcomes, triggers = [] } = state;
  const { ends, then, conditions } = reportOf(state);
  return [
    `**${ref.namespace}/${ref.name}**: run strategy ${object?.runStrategy ?? 'unknown'}`,
    `${instance === undefined ? 'No instance' : `Instance ${instance.vmi.uid}: ${instance.phase}${ends ? ', is being stopped' : ''}`}; then **${then}**.`,
    ...pendingRequests(state).map(({ action, uid }) => `- requested: ${action} ${uid ?? ''}`),
    ...triggers.filter(({ open }) => open).map(({ id }) => `- asked for by another service: ${id}`),
    ...outcomes.map(
      ({ at, action, uid, outcome, message }) => `- ${at} ${action} ${uid ?? ''}: ${outcome}, ${message}`,
    ),
    ...(startFailures === undefined
      ? []
      : [`${startFailures.count} instances in a row ended without running; next try ${startFailures.retryAt}`]),
    ...conditions.map(({ reason, message }) => `- ${reason ?? ''}: ${message ?? ''}`),
  ].join('\n');
};
