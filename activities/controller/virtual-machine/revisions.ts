import { withRevisions } from '../../../api/instancetypes/index.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineSpec } from '../../../api/kubevirt/types.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { ownerReference } from './read.ts';

/** On the revisions of a VM: its uid. KubeVirt tells them by name only. */
const VM_UID_LABEL = 'virtflow.io/vm-uid';

/** Generation of the VM that a VMI stands for, as KubeVirt notes it on the VMI. */
export const GENERATION_ANNOTATION = 'kubevirt.io/vm-generation';

/** Name of the ControllerRevision that keeps the spec with which a VM was started. */
export const revisionName = ({ metadata }: VirtualMachine): string =>
  `revision-start-vm-${metadata?.uid ?? ''}-${metadata?.generation ?? 0}`;

/** Stores the VM's spec as it is, with the copies of what it refers to by name; what earlier starts have stored goes. Safe to run twice. @returns name of the ControllerRevision */
export const storeRevision = async (kube: KubePort, vm: VirtualMachine): Promise<string> => {
  const name = revisionName(vm);
  const { namespace = '', uid = '', generation = 0 } = vm.metadata ?? {};
  // A VM that has never run has none.
  const earlier = vm.status?.runStrategy === undefined ? [] : await revisionsOf(kube, namespace, uid);
  await Promise.all(
    earlier
      .filter(({ metadata }) => metadata?.name !== name)
      .map(({ metadata }) =>
        kube.remove('ControllerRevision', { namespace, name: metadata?.name ?? '' }, { uid: metadata?.uid ?? '' }),
      ),
  );
  if (earlier.some(({ metadata }) => metadata?.name === name)) return name;
  try {
    await kube.create('ControllerRevision', {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { namespace, name, labels: { [VM_UID_LABEL]: uid }, ownerReferences: [ownerReference(vm)] },
      data: { spec: withRevisions(vm) },
      revision: generation,
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  return name;
};

const revisionsOf = (kube: KubePort, namespace: string, uid: string) =>
  kube.list('ControllerRevision', { namespace, labelSelector: `${VM_UID_LABEL}=${uid}` });

/** The VM's spec with which a VMI was started; undefined when nobody has stored it. */
export const startedSpec = async (
  kube: KubePort,
  { metadata, status }: VirtualMachineInstance,
): Promise<VirtualMachineSpec | undefined> => {
  const name = status?.virtualMachineRevisionName;
  if (name === undefined) return undefined;
  const revision = await kube.get('ControllerRevision', { namespace: metadata?.namespace ?? '', name });
  const { spec } = (revision?.data ?? {}) as { spec?: VirtualMachineSpec };
  return spec?.template?.spec === undefined ? undefined : spec;
};
