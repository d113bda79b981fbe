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

/** Node labels that the target must have. @throws UserError when no node can be one */
export async function destination(
  kube: Pick<KubePort, 'get' | 'list'>,
  wanted: { targetNode?: string; nodeSelector?: Record<string, string> },
  sourceNode: string | undefined,
): Promise<Record<string, string>> {
  const { targetNode, nodeSelector: selector = {} } = wanted;
  if (targetNode === undefined) {
    await someNode(kube, selector, sourceNode);
    return selector;
  }
  if (targetNode === sourceNode) throw new UserError(`the VM runs on node "${targetNode}" already.`);
  const node = await ifReadable(async () => (await kube.get('Node', { name: targetNode })) ?? 'absent');
  if (node === 'absent')
    throw new UserError(`there is no node "${targetNode}" in the cluster (kubectl get nodes shows all).`);
  const why = node === undefined ? undefined : (whyNoTarget(node) ?? lacking(node, selector));
  if (why !== undefined) throw new UserError(`node "${targetNode}" cannot take the VM: ${why}.`);
  return { ...selector, [HOSTNAME_LABEL]: node?.metadata?.labels?.[HOSTNAME_LABEL] ?? targetNode };
}

/** @throws UserError when no node but the source has these labels, or none of those that have them can take a VM */
async function someNode(
  kube: Pick<KubePort, 'list'>,
  selector: Record<string, string>,
  sourceNode: string | undefined,
): Promise<void> {
  if (Object.keys(selector).length === 0) return;
  const labelSelector = inWords(selector);
  const found = await ifReadable(() => kube.list('Node', { labelSelector }));
  if (found === undefined) return;
  const nodes = found.filter(({ metadata }) => metadata?.name !== sourceNode);
  const choose = 'choose other labels with --node-selector (kubectl get nodes --show-labels shows all)';
  if (nodes.length === 0) {
    const other = sourceNode === undefined ? '' : ` other than ${sourceNode}`;
    throw new UserError(`no node${other} has the labels ${labelSelector}: nothing was created; ${choose}.`);
  }
  const reasons = nodes.map((node) => [node.metadata?.name, whyNoTarget(node)] as const);
  if (reasons.every(([, why]) => why !== undefined))
    throw new UserError(
      `no node with the labels ${labelSelector} can take the VM (${reasons.map(([name, why]) => `${name}: ${why}`).join('; ')}): nothing was created; ${choose}.`,
    );
}

const inWords = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Labels that were asked for with --node-selector and that a node does not have. */
function lacking({ metadata }: Node, selector: Record<string, string>): string | undefined {
  const missing = Object.entries(selector).filter(([key, value]) => metadata?.labels?.[key] !== value);
  return missing.length === 0
    ? undefined
    : `it lacks the labels ${inWords(Object.fromEntries(missing))} of --node-selector`;
}

/** Users of a namespace may not be allowed to read nodes: the controller then says what is wrong. */
async function ifReadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}

/** Why the scheduler will not choose a node, from the node itself. */
export function whyNoTarget(node: Node): string | undefined {
  if (node.spec?.unschedulable === true) return 'it is cordoned';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? undefined : `it is not Ready${ready?.message ? ` (${ready.message})` : ''}`;
}
