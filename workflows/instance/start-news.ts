import type { PodFacts } from '../../api/contract/facts.ts';
import type { OperationProgress } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { forward } from './forward.ts';
import type { InstanceCommand, InstanceState } from './state.ts';

/**
 * A start that goes well learns from its node's worker when the guest runs: what it would be told on the way there costs more than its steps
 * (docs/adr/0025). It says when it has to wait, and is told from then on.
 */

export const goesWell = ({ operation }: InstanceState): boolean =>
  operation?.kind === 'start' && operation.isWaiting !== true;

/** A start of which nothing has been heard: as long as it goes well it writes the VMI's status itself, and the entity knows less (docs/adr/0027). */
export const isStartQuiet = (state: InstanceState): boolean =>
  goesWell(state) && state.operation?.phase === '' && state.pod === undefined;

/** Of its Pod, as far as that is known. */
const isItsPod = ({ pod }: InstanceState, uid: string): boolean => pod === undefined || pod.uid === uid;

/** Nothing for a start that goes well: containers that run. */
export const isGoodNewsOfPod = (state: InstanceState, facts: PodFacts): boolean =>
  goesWell(state) &&
  isItsPod(state, facts.uid) &&
  facts.phase === 'Running' &&
  facts.computeReady &&
  facts.waiting === undefined &&
  !facts.deleting &&
  facts.gone !== true;

/** Nothing for a start that goes well: its guest runs. */
export const isGoodNewsOfDomain = (state: InstanceState, report: DomainReport): boolean =>
  goesWell(state) && isItsPod(state, report.podUid) && (report.state === 'running' || isNoDomain(report));

const isNoDomain = ({ state, end }: DomainReport): boolean => state === 'none' && end === undefined;

/** It waits for its node, or for something else, or has gone further than to its Pod. */
export const saysThatItWaits = ({ kind, phase, pod, trouble }: OperationProgress): boolean =>
  kind === 'start' &&
  (trouble !== undefined || !['Pending', 'Scheduling'].includes(phase) || (pod !== undefined && !pod.node));

/** What a start has not been told that has begun to wait. */
export const untold = (before: InstanceState, after: InstanceState): InstanceCommand[] => {
  const { operation, podFacts, domain } = after;
  if (operation?.isWaiting !== true || before.operation?.isWaiting === true) return [];
  return [
    ...(podFacts === undefined ? [] : forward(after, { signal: 'podChanged', facts: podFacts })),
    ...(domain === undefined ? [] : forward(after, { signal: 'domainChanged', report: domain })),
  ];
};
