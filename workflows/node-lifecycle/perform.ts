import { isDefect, toFailureInfo } from '../shared/failures.ts';
import { bookkeeping, urgentNodeActivities } from '../shared/proxies.ts';
import type { NodeCommand, NodeEvent } from './state.ts';
import { reportOf } from './words.ts';

type Settle = Extract<NodeCommand, { type: 'settle' }>;

/** Carries out the commands of a Node's entity. What cannot be done is shown and tried again later. */
export const perform = async (command: NodeCommand): Promise<NodeEvent> => {
  try {
    if (command.type === 'settle') return await settle(command);
    const { node, bootId, heartbeat } = command.facts;
    const { assessDeletedNode } = bookkeeping('Assess deleted Node');
    return { type: 'assessed', found: await assessDeletedNode({ node, bootId, heartbeat }) };
  } catch (error) {
    if (isDefect(error)) throw error;
    return { type: 'failed', failure: toFailureInfo(error) };
  }
};

const settle = async ({ standing, facts, fence }: Settle): Promise<NodeEvent> => {
  const { node, heartbeat } = facts;
  const isHeardOf = standing === 'serving' || standing === 'closed';
  const waits = isHeardOf && (await bookkeeping('Lift fence').liftFence({ node })).waits;
  if (standing === 'silent') await bookkeeping('Close node').closeNode({ node, heartbeat });
  if (fence === undefined) await bookkeeping('Open node').openNode({ node });
  if (fence !== undefined) {
    await bookkeeping('Record fence').recordFence({ node, fence });
    await bookkeeping('Close node').closeNode({ node, heartbeat, fenced: true });
    await stopIfAlive(facts);
  }
  await bookkeeping('Tell instances').tellInstances({ report: reportOf(standing, facts) });
  return { type: 'settled', standing, waits };
};

/** Before anything is started elsewhere: a worker that lives on a fenced node can still be asked. Nobody answers: as was to be expected. */
const stopIfAlive = async ({ node }: Settle['facts']): Promise<void> => {
  try {
    await urgentNodeActivities(node.name, 'Stop domains').stopFencedDomains({ node });
  } catch (error) {
    if (isDefect(error)) throw error;
  }
};
