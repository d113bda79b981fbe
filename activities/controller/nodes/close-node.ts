import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { NodeRef } from '../../../api/contract/nodes.ts';
import { FENCED_TAINT, HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from '../../../api/contract/nodes.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import { isNotFound, isTestFailed } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;

const pathOf = (of: 'annotations' | 'labels', key: string): string =>
  `/metadata/${of}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
const isOurs = ({ key }: Taints[number]): boolean => key === FENCED_TAINT;

/**
 * Takes a node out of scheduling: KubeVirt's label says so. Launcher Pods do not select by it, because a kubelet that restarts ends Pods whose node
 * selector does not hold any more; what keeps them away is that the devices of a worker that is gone are gone, Kubernetes' own taints of a silent
 * kubelet, and ours of a fenced node. A silent worker that has been heard of in between makes the patch's test fail.
 */
export const closeNode =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['closeNode'] =>
  async ({ node, heartbeat, fenced }) => {
    const found = await kube.get('Node', { name: node.name });
    const { uid, labels, annotations } = found?.metadata ?? {};
    const taints = found?.spec?.taints ?? [];
    if (uid !== node.uid || (fenced === undefined && annotations?.[HEARTBEAT_ANNOTATION] !== heartbeat)) return;
    const isTainted = fenced === undefined || taints.some(isOurs);
    if (labels?.[SCHEDULABLE_LABEL] === 'false' && isTainted) return;
    await patchNode(kube, node, [
      ...(fenced === undefined
        ? [{ op: 'test', path: pathOf('annotations', HEARTBEAT_ANNOTATION), value: heartbeat }]
        : []),
      { op: 'add', path: pathOf('labels', SCHEDULABLE_LABEL), value: 'false' },
      ...(isTainted ? [] : changeOf(found, [...taints, { key: FENCED_TAINT, effect: 'NoSchedule' }])),
    ]);
  };

/** Takes the taint of a fenced node away. The label is the worker's own. */
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
