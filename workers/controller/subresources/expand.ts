import { findInstanceTypes, typesOf } from '../../../activities/instance-types/find.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { expandVirtualMachine, readManifest } from '../../../api/subresources/expand.ts';
import { badRequest } from '../../../api/subresources/status.ts';
import type { Answer } from './answer.ts';
import type { SubresourcePorts } from './ports.ts';

type Ports = Pick<SubresourcePorts, 'kube' | 'config'>;

/** A VM as it would run. @throws KubeError */
export const answerExpanded = async ({ kube, config }: Ports, vm: VirtualMachine): Promise<Answer> => {
  const lookup = await findInstanceTypes(kube, vm);
  const [missing] = lookup.missing;
  if (missing !== undefined) return { refusal: badRequest(`spec.${missing.field}: ${missing.message}`) };
  const expanded = expandVirtualMachine(vm, typesOf(lookup), config());
  return expanded.refusal === undefined ? { status: 200, json: expanded.vm } : expanded;
};

/** The same for a manifest. @throws KubeError */
export const answerExpandedManifest = async (ports: Ports, object: unknown, namespace: string): Promise<Answer> => {
  const read = readManifest(object, namespace);
  return read.refusal === undefined ? answerExpanded(ports, read.vm) : read;
};
