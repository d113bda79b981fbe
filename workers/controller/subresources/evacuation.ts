import { readOptions } from '../../../api/subresources/options.ts';
import { evacuationCancelPatch } from '../../../api/subresources/patches.ts';
import { badRequest } from '../../../api/subresources/status.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Answer } from './answer.ts';
import { refuse } from './answer.ts';
import type { ObjectName, readInstance } from './objects.ts';
import type { Asked, SubresourcePorts } from './ports.ts';
import { carryOut } from './writes.ts';

/** Takes back that an instance is to leave its node; one that is not asked to is left alone. @throws KubeError */
export const cancelEvacuation = async (
  ports: SubresourcePorts,
  object: ObjectName,
  { body, query }: Asked,
  find: typeof readInstance,
): Promise<Answer> => {
  const read = readOptions('evacuate/cancel', body, query.getAll('dryRun'));
  if (read.refusal !== undefined) return read;
  const found = await find(ports.kube, object);
  if (found.refusal !== undefined) return found;
  const drained = await drainedNode(ports, found.vmi);
  if (drained !== undefined) return refuse(badRequest(drained));
  const current = found.vmi.status?.evacuationNodeName ?? '';
  if (current === '') return { status: 200 };
  const { evacuationNodeName = current } = read.options;
  const operations = evacuationCancelPatch(evacuationNodeName);
  const refusal = await carryOut(ports, object, [{ patch: 'VirtualMachineInstance', operations }], read.dryRun);
  return refusal === undefined ? { status: 200 } : refuse(refusal);
};

/** Why it would be asked again at once: the node carries the taint that empties it. */
const drainedNode = async (
  { kube, config }: SubresourcePorts,
  { status }: VirtualMachineInstance,
): Promise<string | undefined> => {
  const key = config().migrations.nodeDrainTaintKey;
  const name = status?.evacuationNodeName ?? status?.nodeName ?? '';
  const node = name === '' ? undefined : await kube.get('Node', { name });
  const isDrained = node?.spec?.taints?.some((taint) => taint.key === key && taint.effect === 'NoSchedule') ?? false;
  return isDrained ? `Node "${name}" has NodeDrainTaintKey "${key}:NoSchedule"` : undefined;
};
