import type { PodFacts } from '../../api/contract/facts.ts';
import type { OperationProgress } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { forward } from './forward.ts';
import type { InstanceCommand, InstanceState } from './state.ts';

/**
 * A start that goes well learns from its node's worker when the guest runs: what it would be told on the way there costs more than its steps
 * (docs/adr/0025). It says when it has to wait, and is told from then on.
 */

const goesWell = ({ operation, pod }: InstanceState): boolean =>
  operation?.kind === 'start' &&
  operation.phase === 'Scheduling' &&
  operation.isWaiting !== true &&
  pod?.node !== undefined;

/** Nothing for a start that goes well: containers that run. */
export const isGoodNewsOfPod = (state: InstanceState, facts: PodFacts): boolean =>
  goesWell(state) &&
  facts.uid === state.pod?.uid &&
  facts.phase === 'Running' &&
  facts.computeReady &&
  facts.waiting === undefined &&
  !facts.deleting &&
  facts.gone !== true;

/** Nothing for a start that goes well: its guest runs. */
export const isGoodNewsOfDomain = (state: InstanceState, report: DomainReport): boolean =>
  goesWell(state) && report.podUid === state.pod?.uid && report.state === 'running';

/** It waits, or has gone further than to its Pod. */
export const saysThatItWaits = ({ kind, phase, trouble }: OperationProgress): boolean =>
  kind === 'start' && (trouble !== undefined || !['Pending', 'Scheduling'].includes(phase));

/** What a start has not been told that has begun to wait. */
export const untold = (before: InstanceState, after: InstanceState): InstanceCommand[] => {
  const { operation, podFacts, domain } = after;
  if (operation?.isWaiting !== true || before.operation?.isWaiting === true) return [];
  return [
    ...(podFacts === undefined ? [] : forward(after, { signal: 'podChanged', facts: podFacts })),
    ...(domain === undefined ? [] : forward(after, { signal: 'domainChanged', report: domain })),
  ];
};
