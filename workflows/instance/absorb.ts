import { adopted } from './adopted.ts';
import { leftToClear } from './clearing.ts';
import { forward } from './forward.ts';
import { withProposal } from './migrating.ts';
import { dependencyChanged, domainReported, hostReported, instanceObserved, podObserved } from './observing.ts';
import { lookAgain, operationEnded, operationProgressed, retried, withSettled } from './operating.ts';
import { untold } from './start-news.ts';
import type { InstanceDecision, InstanceEvent, InstanceState } from './state.ts';

const only = (state: InstanceState): InstanceDecision => ({ state, commands: [] });

/** Takes an event into the state, and passes on to the operation under way what concerns it. */
export const absorb = (state: InstanceState, event: InstanceEvent, at: string): InstanceDecision => {
  switch (event.type) {
    case 'instanceObserved':
      return instanceObserved(state, event.facts);
    case 'podObserved':
      return podObserved(state, event.facts, at);
    case 'domainReported':
      return domainReported(state, event.report, at);
    case 'dependencyChanged':
      return dependencyChanged(state, event.kind);
    case 'nodeReported':
      return hostReported(state, event.report);
    case 'operationProgress': {
      const seen = operationProgressed(state, event.progress, at);
      return { state: seen, commands: untold(state, seen) };
    }
    case 'migrationProposed':
      return only(withProposal(state, event.proposal));
    case 'operationFinished':
      return only(operationEnded(state, event.finished, at));
    case 'operationLost':
      if (event.id === state.clearing?.id) return only(leftToClear(state));
      return only(event.id === state.operation?.id ? lookAgain(state) : state);
    case 'operationExists':
      return only(event.id === state.operation?.id && !event.isOpen ? lookAgain(withSettled(state)) : state);
    case 'retryRequested':
      return only(retried(state));
    case 'adopted': {
      const seen = adopted(state, event.found, at);
      // The operation may have told its end before we knew of it: asked, it tells it again, or it is not there any more.
      return { state: seen, commands: forward(seen, { signal: 'ping' }) };
    }
    case 'released': {
      const { epoch: _, ...rest } = state;
      return only({ ...rest, release: 'done' });
    }
    case 'timerFired':
      return only(state);
  }
};
