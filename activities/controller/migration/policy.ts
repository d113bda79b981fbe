import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { MigrationPolicy } from '../../../api/migration-policy/index.ts';
import { matchingPolicy } from '../../../api/migration-policy/index.ts';
import { UnreadableObject, parseMigrationPolicy } from '../../../api/schemas/index.ts';
import { readableMigrationPolicy } from '../../facts/readable.ts';
import type { KubePort } from '../../kube/port.ts';

export interface PolicyQuestion {
  namespace: string;
  /** Undefined: there is none any more, and no policy for it. */
  vmi: VirtualMachineInstance | undefined;
  /** Under way already: it is not stopped by a policy that cannot be read. */
  isUnderWay: boolean;
}

/** The policy whose settings go over the cluster's for migrations of this VMI. @throws InvalidSpec naming one that cannot be read */
export const policyFor = async (
  kube: KubePort,
  { namespace, vmi, isUnderWay }: PolicyQuestion,
): Promise<MigrationPolicy | undefined> => {
  const found = await kube.list('MigrationPolicy');
  if (found.length === 0 || vmi === undefined) return undefined;
  const policies = isUnderWay ? found.flatMap(ifReadable) : found.map(readableMigrationPolicy);
  const namespaceLabels = (await kube.get('Namespace', { name: namespace }))?.metadata?.labels ?? {};
  return matchingPolicy(policies, { instanceLabels: vmi.metadata?.labels ?? {}, namespaceLabels });
};

const ifReadable = (policy: MigrationPolicy): MigrationPolicy[] => {
  try {
    return [parseMigrationPolicy(policy)];
  } catch (error) {
    if (error instanceof UnreadableObject) return [];
    throw error;
  }
};
