import { SILENT_AFTER_MS } from '../../api/contract/nodes.ts';
import type { DeletedNode, NodeFacts } from '../../api/contract/nodes.ts';
import { after } from '../shared/time.ts';
import type { NodeDecision, NodeEvent, NodeState, Standing } from './state.ts';

/** Between looks whether the worker of a node that was fenced has been heard of since. */
const RECORD_MS = 30_000;

/** After a failure that is not tried again by itself. */
const AGAIN_MS = 60_000;

/**
 * What is done about a Node: each time something is heard of it, the way it stands is carried out, one at a time. Pure. Silence alone never fences:
 * only a taint, an operator's word, or the deletion of a Node whose worker is silent.
 * @param at now; RFC 3339
 */
export const decide = (before: NodeState, event: NodeEvent, at: string): NodeDecision => {
  const state = absorb(before, event, at);
  if (state.settling !== undefined || state.over === true || state.again === undefined) return { state, commands: [] };
  const { again: _, wakeAt: _wakeAt, failure: _failure, ...rest } = state;
  return carryOut(rest);
};

const carryOut = (state: NodeState): NodeDecision => {
  const { facts, fence } = state;
  if (facts === undefined) return { state, commands: [] };
  const standing = fence === undefined ? standingOf(facts) : 'fenced';
  const settling: NodeState = { ...state, settling: standing };
  if (standing === 'deleted') return { state: settling, commands: [{ type: 'assessDeleted', facts }] };
  const why = fence ?? facts.fence;
  return {
    state: settling,
    commands: [{ type: 'settle', standing, facts, ...(why === undefined ? {} : { fence: why }) }],
  };
};

/** How a Node stands by what is known of it. A fence outranks a sign of life: what runs there counts as gone all the same. */
export const standingOf = ({ gone, fence, silent, schedulable }: NodeFacts): Standing => {
  if (gone === true) return 'deleted';
  if (fence !== undefined) return 'fenced';
  if (silent) return 'silent';
  return schedulable ? 'serving' : 'closed';
};

const absorb = (state: NodeState, event: NodeEvent, at: string): NodeState => {
  switch (event.type) {
    case 'observed':
      return observed(state, event.facts);
    case 'settled': {
      const { settling: _, ...rest } = state;
      const { standing } = event;
      const since = standing === state.standing ? state.since : at;
      // A Node that is gone and fenced has nothing more to come.
      const later = event.waits === true ? { wakeAt: after(at, RECORD_MS) } : {};
      return { ...rest, standing, since, ...later, ...(state.fence === undefined ? {} : { over: true }) };
    }
    case 'assessed':
      return assessed(state, event.found, at);
    case 'failed': {
      const { settling: _, ...rest } = state;
      return { ...rest, failure: event.failure, wakeAt: after(at, AGAIN_MS) };
    }
    case 'timerFired':
      return state.wakeAt === undefined || state.wakeAt > at ? state : { ...state, again: true };
  }
};

/** A deletion is never taken back; who hears of it late still needs the last heartbeat and boot that were seen. */
const observed = (state: NodeState, facts: NodeFacts): NodeState => {
  if (facts.node.uid !== state.node.uid || state.facts?.gone === true) return state;
  if (facts.gone !== true || state.facts === undefined) return { ...state, facts, again: true };
  const { bootId, heartbeat } = state.facts;
  const last = facts.heartbeat > heartbeat ? facts.heartbeat : heartbeat;
  return { ...state, facts: { ...facts, bootId, heartbeat: last }, again: true };
};

const assessed = (state: NodeState, found: DeletedNode, at: string): NodeState => {
  const { settling: _, ...rest } = state;
  const since = state.standing === 'deleted' ? state.since : at;
  const known: NodeState = { ...rest, standing: 'deleted', since };
  switch (found.outcome) {
    case 'registered':
      return { ...known, over: true };
    case 'alive':
      return { ...known, wakeAt: after(found.lastSign, SILENT_AFTER_MS + 1_000) };
    case 'fenced':
      return { ...known, fence: found.fence, again: true };
  }
};
