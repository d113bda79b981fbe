import { InvalidArgumentError } from 'commander';
import { KubeError, type KubePort } from '../../activities/kube/port.ts';
import type { Node } from '../../api/kubernetes/types.ts';
import { UserError } from '../errors.ts';

const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** Collects `--node-selector key=value`, which may be repeated and may hold several, separated by commas. */
export function nodeSelector(text: string, before: Record<string, string> = {}): Record<string, string> {
  const pairs = text.split(',').map((pair) => {
    const [, key, value] = /^([^=\s]+)=([^=\s]*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined)
      throw new InvalidArgumentError(`"${pair}" is not key=value, for example zone=east.`);
    return [key, value] as const;
  });
  return { ...before, ...Object.fromEntries(pairs) };
}

/** Node labels that the target must have. @throws UserError when the node that was named cannot be one */
export async function destination(
  kube: Pick<KubePort, 'get'>,
  wanted: { targetNode?: string; nodeSelector?: Record<string, string> },
  sourceNode: string | undefined,
): Promise<Record<string, string>> {
  const { targetNode, nodeSelector: selector = {} } = wanted;
  if (targetNode === undefined) return selector;
  if (targetNode === sourceNode) throw new UserError(`the VM runs on node "${targetNode}" already.`);
  const node = await nodeIfReadable(kube, targetNode);
  if (node === 'absent')
    throw new UserError(`there is no node "${targetNode}" in the cluster (kubectl get nodes shows all).`);
  const why = node === 'unreadable' ? undefined : whyNoTarget(node);
  if (why !== undefined) throw new UserError(`node "${targetNode}" cannot take the VM: ${why}.`);
  const hostname = node === 'unreadable' ? targetNode : (node.metadata?.labels?.[HOSTNAME_LABEL] ?? targetNode);
  return { ...selector, [HOSTNAME_LABEL]: hostname };
}

/** Users of a namespace may not be allowed to read nodes: the scheduler then says what is wrong. */
async function nodeIfReadable(kube: Pick<KubePort, 'get'>, name: string): Promise<Node | 'absent' | 'unreadable'> {
  try {
    return (await kube.get('Node', { name })) ?? 'absent';
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'unreadable';
    throw error;
  }
}

/** Why the scheduler will not choose a node, from the node itself. */
export function whyNoTarget(node: Node): string | undefined {
  if (node.spec?.unschedulable === true) return 'it is cordoned';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? undefined : `it is not Ready${ready?.message ? ` (${ready.message})` : ''}`;
}
