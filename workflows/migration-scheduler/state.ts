import type { PermitHolder, PermitLimits, PermitRequest } from '../../api/contract/migrations.ts';

export interface Holding extends Pick<PermitRequest, 'holder' | 'sourceNode'> {
  /** RFC 3339 */
  since: string;
}

export interface Waiting extends PermitRequest {
  since: string;
  /** Order of arrival. */
  arrival: number;
}

/** All that the scheduler knows; JSON only. */
export interface SchedulerState {
  /** Unknown before the world was looked at. */
  limits?: PermitLimits;
  /** Nothing is granted before it is known who holds a permit. */
  adoption: 'needed' | 'underWay' | 'done';
  holding: Holding[];
  /** In the order in which they will be served. */
  waiting: Waiting[];
  arrivals: number;
  /** Permits that came back while the world was looked at: what is found may be older. */
  returned: string[];
  /** When holders that may have vanished are looked at; absent: nobody waits. */
  wakeAt?: string;
}

export type SchedulerEvent =
  | { type: 'requested'; request: PermitRequest }
  | { type: 'returned'; holder: string }
  | { type: 'limitsChanged' }
  /** `all`: every holder there is; otherwise those that were asked for. */
  | { type: 'observed'; all: boolean; limits: PermitLimits; holders: PermitHolder[] }
  /** Nobody is there to take the permit. */
  | { type: 'holderGone'; holder: string }
  | { type: 'timerFired' };

export type SchedulerCommand =
  { type: 'grant'; holder: string } | { type: 'observe'; /** Absent: all. */ holders?: string[] };

export interface SchedulerDecision {
  state: SchedulerState;
  commands: SchedulerCommand[];
}

export const initialState = (): SchedulerState => ({
  ...{ adoption: 'needed', holding: [], waiting: [], arrivals: 0, returned: [] },
});
