/** Queue of all workflow code and of the activities that touch only the Kubernetes API. */
export const CONTROLLER_QUEUE = 'controller';

/** Queue of the activities of one node. */
export const nodeQueue = (node: string): string => `node-${node}`;

/** Second queue of a node for force-off and abort, so that they never wait behind long copies. */
export const urgentNodeQueue = (node: string): string => `node-${node}-urgent`;
