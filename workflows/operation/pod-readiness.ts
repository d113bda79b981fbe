import type { PodFacts } from '../../api/contract/facts.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import { found } from '../shared/failures.ts';

/** @throws PodFailed */
export const refuseEnded = (facts: PodFacts): void => {
  const ended = facts.phase === 'Succeeded' || facts.phase === 'Failed';
  if (!ended && !facts.deleting && facts.gone !== true) return;
  const how = ended ? `ended (${facts.reason ?? facts.phase})` : 'was deleted';
  throw found(
    'PodFailed',
    `Pod ${facts.name} ${how} before the domain ran; see its events and the log of its container compute.`,
  );
};

/** Why its containers do not run yet, if it says so. */
export const obstacleOf = ({ name, unschedulable, waiting }: PodFacts): FailureInfo | undefined => {
  if (unschedulable !== undefined) {
    const text = `Pod ${name} cannot be scheduled (${unschedulable.reason}): ${unschedulable.message}`;
    return { type: 'PodNotReady', message: text };
  }
  if (waiting === undefined) return undefined;
  const text = `container ${waiting.container} of Pod ${name} cannot start (${waiting.reason}): ${waiting.message}`;
  return { type: 'PodNotReady', message: text };
};

export const describeObstacle = (facts: PodFacts): string =>
  obstacleOf(facts)?.message ?? `its phase is ${facts.phase}.`;
