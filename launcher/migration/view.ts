import type { Observation } from '../domain-manager/assess.ts';
import { DomainState } from '../libvirt/types.ts';

/** virDomainPausedReason and virDomainRunningReason. */
const PAUSED_FOR_MIGRATION = 2;
const RUNNING_POST_COPY = [10, 11];

/** Of a target: the guest is still on its way. */
export const isUnderWayHere = (seen: Observation | undefined): boolean =>
  isPostCopy(seen) || (has(seen, DomainState.paused) && seen.reason === PAUSED_FOR_MIGRATION);

/** Of a target: the guest runs, while the rest of its memory follows. */
export const isPostCopy = (seen: Observation | undefined): boolean =>
  has(seen, DomainState.running) && RUNNING_POST_COPY.includes(seen.reason);

const has = (seen: Observation | undefined, state: number): seen is Exclude<Observation, 'absent'> =>
  seen !== undefined && seen !== 'absent' && seen.state === state;
