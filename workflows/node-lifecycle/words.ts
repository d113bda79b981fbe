import type { NodeFacts, NodeReport, NodeStatus } from '../../api/contract/nodes.ts';
import type { NodeState, Standing } from './state.ts';

/** What the node's instances are told. */
export const reportOf = (standing: Standing, { node: { name: node }, heartbeat }: NodeFacts): NodeReport => {
  switch (standing) {
    case 'fenced':
      return { node, standing: 'fenced', message: `node ${node} is fenced: what ran there counts as gone` };
    case 'silent':
      return {
        ...{ node, standing: 'silent' },
        message:
          `the worker of node ${node} has not been heard of since ${heartbeat}; the guest may run on, so it is not started elsewhere. ` +
          `If the machine is off and stays so: virtflow fence ${node}`,
      };
    default:
      return { node, standing: 'responsive', message: `the worker of node ${node} is heard of` };
  }
};

/** Answer of the query. */
export const statusOf = ({ node, standing, since, facts, fence }: NodeState): NodeStatus => {
  const why = fence ?? facts?.fence;
  return { node, standing: standing ?? 'unknown', since, ...(why === undefined ? {} : { fence: why }) };
};

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (state: NodeState): string => {
  const { node, standing, since, facts, failure, wakeAt } = state;
  const why = state.fence ?? facts?.fence;
  return [
    `**Node ${node.name}: ${standing ?? 'being looked at'}** since ${since}`,
    ...(why === undefined ? [] : [`Fenced: ${why.by}, boot ${why.bootId}`]),
    ...(failure === undefined ? [] : [`${failure.type}: ${failure.message}`]),
    ...(wakeAt === undefined ? [] : [`Looked at again at ${wakeAt}`]),
  ].join('\n\n');
};
