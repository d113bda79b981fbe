import { z } from 'zod';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { getIfServed } from './get-if-served.ts';

const network = z.object({ name: z.string(), multus: z.object({ networkName: z.string() }) });

/** Networks of Multus that a VMI names; its own namespace may be left out of a name. What nobody has validated yet and makes no sense is nobody's. */
export const attachmentsOf = ({
  metadata,
  spec,
}: Pick<VirtualMachineInstance, 'metadata' | 'spec'>): { network: string; namespace: string; name: string }[] => {
  const networks: unknown = spec.networks;
  const parsed = z.array(network.or(z.unknown().transform(() => undefined))).safeParse(networks ?? []);
  return (parsed.data ?? []).flatMap((one) => {
    if (one === undefined) return [];
    const [first = '', second] = one.multus.networkName.split('/');
    const own = { namespace: metadata?.namespace ?? '', name: first };
    return [{ network: one.name, ...(second === undefined ? own : { namespace: first, name: second }) }];
  });
};

/** Every network that the spec names exists: a Pod with one that does not would hang in its creation. @throws NetworkNotFound */
export const checkNetworks = async (kube: KubePort, vmi: VirtualMachineInstance): Promise<void> => {
  for (const { network, namespace, name } of attachmentsOf(vmi)) {
    if ((await getIfServed(kube, 'NetworkAttachmentDefinition', { namespace, name })) !== undefined) continue;
    const what = `Network ${network}: NetworkAttachmentDefinition ${namespace}/${name}`;
    throw failure(
      'NetworkNotFound',
      `${what} does not exist (or Multus is not installed). Create it; the start goes on by itself.`,
    );
  }
};
