import type { EntityStatus } from '../../api/contract/entities.ts';
import type { Attributes } from '../shared/visibility.ts';
import { reportOf } from './report.ts';
import type { VirtualMachineState } from './state.ts';
import { pendingRequests } from './state.ts';

/** What the entity is about, in one word: the instance's phase, or that there is none. */
const phaseOf = ({ instance }: VirtualMachineState): string => (instance === undefined ? 'NoInstance' : instance.phase);

/** Answer of the query. */
export const statusOf = (state: VirtualMachineState): EntityStatus => ({ ref: state.ref, phase: phaseOf(state) });

export const attributesOf = (state: VirtualMachineState): Attributes => ({
  ...{ VmNamespace: state.ref.namespace, VmName: state.ref.name, VmUid: state.ref.uid },
  ...{ Phase: phaseOf(state), FailureReason: reportOf(state).conditions[0]?.reason },
});

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (state: VirtualMachineState): string => {
  const { ref, object, instance, startFailures } = state;
  const { intent, conditions } = reportOf(state);
  return [
    `**${ref.namespace}/${ref.name}**: run strategy ${object?.runStrategy ?? 'unknown'}, intent **${intent}**`,
    instance === undefined ? 'No instance.' : `Instance ${instance.vmi.uid}: ${instance.phase}`,
    ...pendingRequests(state).map(({ action, uid }) => `- requested: ${action} ${uid ?? ''}`),
    ...(startFailures === undefined
      ? []
      : [`${startFailures.count} instances in a row ended without running; next try ${startFailures.retryAt}`]),
    ...conditions.map(({ reason, message }) => `- ${reason ?? ''}: ${message ?? ''}`),
  ].join('\n');
};
