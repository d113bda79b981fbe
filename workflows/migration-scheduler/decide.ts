import type { PermitRequest } from '../../api/contract/migrations.ts';
import { after } from '../shared/time.ts';
import type { SchedulerCommand, SchedulerDecision, SchedulerEvent, SchedulerState, Waiting } from './state.ts';

/** How often holders that may have vanished are looked at while somebody waits. */
const LOOK_EVERY_MS = 30_000;

/**
 * Who may migrate now: higher priority first, then first come, first served; somebody whose source node is busy lets others pass. A permit comes back only
 * by its holder's word or by proof that its job is over. Pure.
 * @param at now; RFC 3339
 */
export const decide = (before: SchedulerState, event: SchedulerEvent, at: string): SchedulerDecision => {
  const taken = absorb(before, event, at);
  if (taken.state.adoption === 'needed') {
    return { state: { ...taken.state, adoption: 'underWay' }, commands: [{ type: 'observe' }] };
  }
  const granted = grantAll(taken.state, at);
  return { state: withTimer(granted.state, at), commands: [...taken.commands, ...granted.commands] };
};

const only = (state: SchedulerState): SchedulerDecision => ({ state, commands: [] });

const absorb = (state: SchedulerState, event: SchedulerEvent, at: string): SchedulerDecision => {
  switch (event.type) {
    case 'requested':
      return requested(state, event.request, at);
    case 'returned':
      return only(returned(state, event.holder));
    case 'limitsChanged':
      return { state, commands: [{ type: 'observe', holders: [] }] };
    case 'observed':
      return only(event.all ? adopted(state, event, at) : looked(state, event));
    case 'holderGone':
      return { state, commands: [{ type: 'observe', holders: [event.holder] }] };
    case 'timerFired':
      return state.wakeAt === undefined || state.wakeAt > at ? only(state) : lookAtHolders(state);
  }
};

const holds = ({ holding }: SchedulerState, holder: string): boolean => holding.some((one) => one.holder === holder);

/** Whoever holds one already did not hear of it. */
const requested = (state: SchedulerState, request: PermitRequest, at: string): SchedulerDecision => {
  const { holder } = request;
  if (holds(state, holder)) return { state, commands: [{ type: 'grant', holder }] };
  const asked = state.waiting.find((one) => one.holder === holder);
  const { since, arrival } = asked ?? { since: at, arrival: state.arrivals };
  const others = state.waiting.filter((one) => one !== asked);
  return only({
    ...state,
    arrivals: state.arrivals + (asked === undefined ? 1 : 0),
    returned: state.returned.filter((one) => one !== holder),
    waiting: inserted(others, { ...request, since, arrival }),
  });
};

const inserted = (waiting: Waiting[], one: Waiting): Waiting[] => {
  const index = waiting.findIndex((other) => isBefore(one, other));
  return index < 0 ? [...waiting, one] : [...waiting.slice(0, index), one, ...waiting.slice(index)];
};

const isBefore = (a: Waiting, b: Waiting): boolean =>
  a.priority > b.priority || (a.priority === b.priority && a.arrival < b.arrival);

const returned = (state: SchedulerState, holder: string): SchedulerState => {
  const isOther = (one: { holder: string }): boolean => one.holder !== holder;
  return {
    ...{ ...state, holding: state.holding.filter(isOther), waiting: state.waiting.filter(isOther) },
    returned: state.adoption === 'done' ? [] : [...state.returned, holder],
  };
};

type Observed = Extract<SchedulerEvent, { type: 'observed' }>;

/** What was found holds from now on; one that waits and holds one already gets it again. */
const adopted = (state: SchedulerState, { limits, holders }: Observed, at: string): SchedulerState => {
  const found = holders.filter(
    ({ holder, over }) => !over && !holds(state, holder) && !state.returned.includes(holder),
  );
  const holding = [...state.holding, ...found.map(({ holder, sourceNode }) => ({ holder, sourceNode, since: at }))];
  return { ...state, limits, holding, adoption: 'done', returned: [] };
};

const looked = (state: SchedulerState, { limits, holders }: Observed): SchedulerState => {
  const isOver = ({ holder }: { holder: string }): boolean => holders.some((one) => one.holder === holder && one.over);
  return { ...state, limits, holding: state.holding.filter((one) => !isOver(one)) };
};

const lookAtHolders = ({ wakeAt: _, ...state }: SchedulerState): SchedulerDecision => ({
  state,
  commands: [{ type: 'observe', holders: state.holding.map(({ holder }) => holder) }],
});

const grantAll = (state: SchedulerState, at: string): SchedulerDecision => {
  if (state.adoption !== 'done' || state.limits === undefined) return only(state);
  const holding = [...state.holding];
  const granted: string[] = [];
  const waiting = state.waiting.filter((one) => {
    const known = holding.some(({ holder }) => holder === one.holder);
    if (!known && whyNot({ ...state, holding }, one) !== undefined) return true;
    if (!known) holding.push({ holder: one.holder, sourceNode: one.sourceNode, since: at });
    granted.push(one.holder);
    return false;
  });
  const commands = granted.map((holder): SchedulerCommand => ({ type: 'grant', holder }));
  return { state: granted.length === 0 ? state : { ...state, holding, waiting }, commands };
};

/** What somebody who waits waits for; undefined: nothing. */
export const whyNot = ({ limits, holding, adoption }: SchedulerState, { sourceNode }: Waiting): string | undefined => {
  if (limits === undefined || adoption !== 'done') return 'it is found out who migrates';
  const { perCluster, outboundPerNode } = limits;
  if (holding.length >= perCluster) return `${holding.length} migrations are under way, ${perCluster} may be`;
  const outbound = holding.filter((one) => one.sourceNode === sourceNode).length;
  return outbound < outboundPerNode
    ? undefined
    : `${outbound} migrations leave node ${sourceNode}, ${outboundPerNode} may`;
};

/** One timer while anybody waits. */
const withTimer = (state: SchedulerState, at: string): SchedulerState => {
  const { wakeAt, ...rest } = state;
  if (state.waiting.length === 0) return rest;
  return { ...rest, wakeAt: wakeAt ?? after(at, LOOK_EVERY_MS) };
};
