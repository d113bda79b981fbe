import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { getIfServed } from './get-if-served.ts';

/** Networks of Multus that a VMI names; its own namespace is left out of a name. */
export const attachmentsOf = ({
  metadata,
  spec,
}: Pick<VirtualMachineInstance, 'metadata' | 'spec'>): { network: string; namespace: string; name: string }[] => {
  const own = metadata?.namespace ?? '';
  const networks: unknown = spec.networks;
  return (Array.isArray(networks) ? (spec.networks ?? []) : []).flatMap(({ name: network, multus }) => {
    if (multus === undefined) return [];
    const [first = '', second] = multus.networkName.split('/');
    return [
      { network, ...(second === undefined ? { namespace: own, name: first } : { namespace: first, name: second }) },
    ];
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
