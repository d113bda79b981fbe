import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { NodeRef } from '../../../api/contract/nodes.ts';
import { HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL, UNRESPONSIVE_TAINT } from '../../../api/contract/nodes.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import { isNotFound, isTestFailed } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;

const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const isOurs = ({ key }: Taints[number]): boolean => key === UNRESPONSIVE_TAINT;

/**
 * Takes a silent node out of scheduling: KubeVirt's label says so, the taint keeps launcher Pods away. They do not select by the label, because a
 * kubelet that restarts ends Pods whose node selector does not hold any more. A worker that has been heard of in between makes the patch's test fail.
 */
export const closeNode =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['closeNode'] =>
  async ({ node, heartbeat }) => {
    const found = await kube.get('Node', { name: node.name });
    const { uid, labels, annotations } = found?.metadata ?? {};
    const taints = found?.spec?.taints ?? [];
    if (uid !== node.uid || annotations?.[HEARTBEAT_ANNOTATION] !== heartbeat) return;
    if (labels?.[SCHEDULABLE_LABEL] !== 'true' && taints.some(isOurs)) return;
    await patchNode(kube, node, [
      { op: 'test', path: `/metadata/annotations/${pointer(HEARTBEAT_ANNOTATION)}`, value: heartbeat },
      { op: 'add', path: `/metadata/labels/${pointer(SCHEDULABLE_LABEL)}`, value: 'false' },
      ...changeOf(found, [
        ...taints.filter((taint) => !isOurs(taint)),
        { key: UNRESPONSIVE_TAINT, effect: 'NoSchedule' },
      ]),
    ]);
  };

/** Takes the taint away: its worker is heard of. The label is the worker's own. */
export const openNode =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['openNode'] =>
  async ({ node }) => {
    const found = await kube.get('Node', { name: node.name });
    const taints = found?.spec?.taints ?? [];
    if (found?.metadata?.uid !== node.uid || !taints.some(isOurs)) return;
    const left = taints.filter((taint) => !isOurs(taint));
    await patchNode(kube, node, changeOf(found, left));
  };

/** Only over the taints that were read. */
const changeOf = (node: Node | undefined, taints: Taints): object[] => {
  const before = node?.spec?.taints;
  return before === undefined
    ? [{ op: 'add', path: '/spec/taints', value: taints }]
    : [
        { op: 'test', path: '/spec/taints', value: before },
        { op: 'replace', path: '/spec/taints', value: taints },
      ];
};

/** A test that fails says that the node has changed meanwhile: what it says now is told to its workflow, which looks again. */
const patchNode = async (kube: KubePort, { name, uid }: NodeRef, patch: object[]): Promise<void> => {
  try {
    await kube.jsonPatch('Node', { name }, [{ op: 'test', path: '/metadata/uid', value: uid }, ...patch]);
  } catch (error) {
    if (!isNotFound(error) && !isTestFailed(error)) throw error;
  }
};
