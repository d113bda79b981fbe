import { continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { NodeLifecycleInput } from '../../api/contract/nodes.ts';
import { nodeObserved, nodeStatus } from '../../api/contract/nodes.ts';
import { runEntity } from '../shared/entity.ts';
import { newInbox } from '../shared/inbox.ts';
import { now } from '../shared/time.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { decide } from './decide.ts';
import { perform } from './perform.ts';
import type { NodeEvent, NodeState } from './state.ts';
import { initialState } from './state.ts';
import { detailsOf, statusOf } from './words.ts';

/**
 * The entity of a Node that has a node worker: from its first heartbeat until it is deleted and either fenced or registered again. While the worker is
 * heard of it has neither timer nor activity.
 */
export async function nodeLifecycle(input: NodeLifecycleInput): Promise<void> {
  const inbox = newInbox<NodeEvent>();
  let state = input.carried === undefined ? initialState(input.node, now()) : (input.carried.state as NodeState);

  setHandler(nodeObserved, (facts) => inbox.put({ type: 'observed', facts }));
  setHandler(nodeStatus, () => statusOf(state));
  const writeAttributes = newAttributeWriter();

  await runEntity({
    ...{ inbox, state, decide, perform, timer: { type: 'timerFired' } },
    show: (shown) => {
      state = shown;
      writeAttributes({ NodeName: shown.node.name, Phase: shown.standing });
      setCurrentDetails(detailsOf(shown));
    },
    isShown: () => true,
    isOver: ({ over }) => over === true,
    wakeAt: ({ wakeAt }) => wakeAt,
    continueAfter: input.continueAfter,
    continueAsNew: (last) => continueAsNew<typeof nodeLifecycle>({ ...input, carried: { version: 1, state: last } }),
  });
}
