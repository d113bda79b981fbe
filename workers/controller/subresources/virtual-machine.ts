import type { VirtualMachineSubresource } from '../../../api/subresources/catalogue.ts';
import type { LifecycleAction } from '../../../api/subresources/lifecycle.ts';
import { decideLifecycle } from '../../../api/subresources/lifecycle.ts';
import { readOptions } from '../../../api/subresources/options.ts';
import type { Answer } from './answer.ts';
import { refuse } from './answer.ts';
import { cancelEvacuation } from './evacuation.ts';
import { answerExpanded } from './expand.ts';
import type { ObjectName } from './objects.ts';
import { readInstanceOfVm, readPair } from './objects.ts';
import type { Asked, SubresourcePorts } from './ports.ts';
import { NO_HOTPLUG } from './volumes.ts';
import { carryOut } from './writes.ts';

/** Answers what is asked of a VM, but for streams. @throws KubeError */
export const askVirtualMachine = async (
  ports: SubresourcePorts,
  subresource: VirtualMachineSubresource,
  object: ObjectName,
  asked: Asked,
): Promise<Answer> => {
  switch (subresource) {
    case 'start':
    case 'stop':
    case 'restart':
    case 'migrate':
      return change(ports, subresource, object, asked);
    case 'evacuate/cancel':
      return cancelEvacuation(ports, object, asked, readInstanceOfVm);
    case 'addvolume':
    case 'removevolume':
      return NO_HOTPLUG;
    case 'expand-spec': {
      const pair = await readPair(ports.kube, object);
      return pair.refusal === undefined ? answerExpanded(ports, pair.vm) : pair;
    }
  }
};

const change = async <K extends LifecycleAction>(
  ports: SubresourcePorts,
  action: K,
  object: ObjectName,
  { body, query }: Asked,
): Promise<Answer> => {
  const read = readOptions(action, body, query.getAll('dryRun'));
  if (read.refusal !== undefined) return read;
  const pair = await readPair(ports.kube, object);
  if (pair.refusal !== undefined) return pair;
  const decision = decideLifecycle(action, pair, read.options);
  if (decision.refusal !== undefined) return decision;
  const refusal = await carryOut(ports, object, decision.writes, read.dryRun);
  return refusal === undefined ? { status: 202 } : refuse(refusal);
};
