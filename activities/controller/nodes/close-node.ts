import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from '../../facts/labels.ts';
import { isNotFound, isTestFailed } from '../../kube/errors.ts';
import type { ControllerPorts } from '../ports.ts';

const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Takes a silent node out of scheduling. Its worker puts it back with its next heartbeat; one that has written in between makes the patch's test fail,
 * and the node stays as the worker says.
 */
export const closeNode =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['closeNode'] =>
  async ({ node, heartbeat }) => {
    const found = await kube.get('Node', { name: node.name });
    const { uid, labels, annotations } = found?.metadata ?? {};
    if (uid !== node.uid || annotations?.[HEARTBEAT_ANNOTATION] !== heartbeat) return;
    if (labels?.[SCHEDULABLE_LABEL] !== 'true') return;
    const patch = [
      { op: 'test', path: '/metadata/uid', value: node.uid },
      { op: 'test', path: `/metadata/annotations/${pointer(HEARTBEAT_ANNOTATION)}`, value: heartbeat },
      { op: 'replace', path: `/metadata/labels/${pointer(SCHEDULABLE_LABEL)}`, value: 'false' },
    ];
    try {
      await kube.jsonPatch('Node', { name: node.name }, patch);
    } catch (error) {
      if (!isNotFound(error) && !isTestFailed(error)) throw error;
    }
  };
