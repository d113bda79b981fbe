import type { FenceWord } from '../api/contract/nodes.ts';
import { FENCE_ANNOTATION, HEARTBEAT_ANNOTATION, SILENT_AFTER_MS } from '../api/contract/nodes.ts';
import type { Node } from '../api/kubernetes/types.ts';
import { fenceOn, fenceWordOf } from '../api/fencing/index.ts';

const PATH = `/metadata/annotations/${FENCE_ANNOTATION.replaceAll('/', '~1')}`;

/** JSON patch that fences this Node in this boot of its machine; undefined: an operator has said so already. */
export const fencePatch = (node: Node, now: Date): object[] | undefined => {
  const nodeUid = node.metadata?.uid ?? '';
  const bootId = node.status?.nodeInfo?.bootID ?? '';
  if (fenceOn(node)?.by === 'operator') return undefined;
  const word: FenceWord = { nodeUid, bootId, at: now.toISOString() };
  return [
    { op: 'test', path: '/metadata/uid', value: nodeUid },
    ...(bootId === '' ? [] : [{ op: 'test', path: '/status/nodeInfo/bootID', value: bootId }]),
    ...(node.metadata?.annotations === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : []),
    { op: 'add', path: PATH, value: JSON.stringify(word) },
  ];
};

/** JSON patch that takes an operator's word back; undefined: there is none. */
export const undoPatch = ({ metadata }: Node): object[] | undefined => {
  const written = metadata?.annotations?.[FENCE_ANNOTATION];
  if (written === undefined) return undefined;
  return [
    { op: 'test', path: PATH, value: written },
    { op: 'remove', path: PATH },
  ];
};

/** What somebody should read before a node is fenced. @param guests "namespace/name" of its VMs */
export const fenceQuestion = (node: Node, guests: readonly string[], now: Date): string => {
  const name = node.metadata?.name ?? '';
  const many =
    guests.length === 0
      ? 'no VMs'
      : `${guests.length} VMs (${guests.slice(0, 5).join(', ')}${guests.length > 5 ? ', …' : ''})`;
  return [
    `Node ${name} runs ${many} as far as the cluster knows. Fencing it says: this machine is off, or cut off from disks and networks, and stays so.`,
    'Its VMs count as gone at once, and start on other nodes. If it still runs them, two guests write to the same disks.',
    ...signsOfLife(node, now).map((sign) => `WARNING: ${sign}.`),
  ].join('\n');
};

/** What speaks against it that the machine is off. */
const signsOfLife = (node: Node, now: Date): string[] => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const heartbeat = node.metadata?.annotations?.[HEARTBEAT_ANNOTATION] ?? '';
  const age = now.getTime() - Date.parse(heartbeat);
  return [
    ...(ready?.status === 'True' ? ['its kubelet says that it is Ready'] : []),
    ...(age < SILENT_AFTER_MS
      ? [`its virtflow worker gave a sign of life ${Math.max(0, Math.round(age / 1000))} s ago`]
      : []),
  ];
};

/** What somebody should read before a fence is taken back. */
export const undoQuestion = (node: Node): string => {
  const name = node.metadata?.name ?? '';
  const word = fenceWordOf(node);
  const bootId = node.status?.nodeInfo?.bootID ?? '';
  const restarted = word === undefined || word.bootId === bootId ? 'has not restarted' : 'has restarted';
  return (
    `Node ${name} ${restarted} since it was fenced${word === undefined ? '' : ` at ${word.at}`}. ` +
    'Take the fence back only when its VMs have started elsewhere or are not wanted: what still counts on it waits for its worker again.'
  );
};
