import type { SchedulerStatus } from '../../api/contract/migrations.ts';
import { whyNot } from './decide.ts';
import type { SchedulerState } from './state.ts';

/** Answer of the query. */
export const statusOf = (state: SchedulerState): SchedulerStatus => ({
  limits: state.limits ?? { perCluster: 0, outboundPerNode: 0 },
  holding: state.holding.map(({ holder, sourceNode, since }) => ({ holder, sourceNode, since })),
  waiting: state.waiting.map((one) => ({
    ...{ holder: one.holder, sourceNode: one.sourceNode, priority: one.priority, since: one.since },
    why: whyNot(state, one) ?? 'it is its turn',
  })),
});

/** As many as fit on a screen. */
const SHOWN = 20;

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (state: SchedulerState): string => {
  const { limits, holding, waiting } = state;
  const shown = waiting.slice(0, SHOWN).map((one) => `- ${one.holder}: ${whyNot(state, one) ?? 'its turn'}`);
  return [
    limits === undefined
      ? 'It is found out who migrates.'
      : `**${holding.length} of ${limits.perCluster}** permits are in use, at most ${limits.outboundPerNode} for each source node.`,
    ...holding.map(({ holder, sourceNode, since }) => `- ${holder} from ${sourceNode} since ${since}`),
    ...(waiting.length === 0 ? [] : [`**${waiting.length}** wait:`, ...shown]),
  ].join('\n');
};
