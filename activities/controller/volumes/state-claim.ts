import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import { keepsState, STATE_CLAIM_LABEL, stateClaimName } from '../../../api/kubevirt/persistent-state.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { KubePort } from '../../kube/port.ts';
import { KubeError } from '../../kube/port.ts';

/** A TPM and the variables of a firmware have some hundred kilobytes (KubeVirt's size). */
const SIZE = '10Mi';

/** The claim for the state of a guest's TPM and firmware. It goes with the VM, or with a VMI that has none. Pure. */
export const stateClaim = (
  { metadata }: VirtualMachineInstance,
  { vmStateStorageClass }: Pick<ClusterConfig, 'vmStateStorageClass'>,
): PersistentVolumeClaim => {
  const { namespace = '', name = '', uid = '', ownerReferences = [] } = metadata ?? {};
  const vm = ownerReferences.find(({ kind, controller }) => kind === 'VirtualMachine' && controller === true);
  const owner = vm ?? { apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance', name, uid };
  const { apiVersion, kind } = owner;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...{ namespace, name: stateClaimName(name), labels: { [STATE_CLAIM_LABEL]: name } },
      ownerReferences: [{ apiVersion, kind, name: owner.name, uid: owner.uid, controller: true }],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: SIZE } },
      ...(vmStateStorageClass === undefined ? {} : { storageClassName: vmStateStorageClass }),
    },
  };
};

/** Creates the claim if the guest needs one and it is not there. One that is there stays as it is, whoever made it. @throws KubeError */
export const ensureStateClaim = async (
  kube: Pick<KubePort, 'get' | 'create'>,
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): Promise<void> => {
  if (!keepsState(vmi)) return;
  const { namespace = '', name = '' } = vmi.metadata ?? {};
  if ((await kube.get('PersistentVolumeClaim', { namespace, name: stateClaimName(name) })) !== undefined) return;
  try {
    await kube.create('PersistentVolumeClaim', stateClaim(vmi, config));
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
  }
};
