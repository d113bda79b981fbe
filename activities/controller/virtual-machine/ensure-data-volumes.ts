import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { VirtualMachine, VirtualMachineSpec } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists, isNotServed } from '../../kube/errors.ts';
import type { Kinds, KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import type { DataVolume } from './data-volumes.ts';
import { dataVolumeState } from './data-volumes.ts';
import { ownerReference, readVirtualMachine } from './read.ts';

type DataVolumeSpec = Kinds['DataVolume']['spec'];
type Template = NonNullable<VirtualMachineSpec['dataVolumeTemplates']>[number];

/** Creates what is missing of the DataVolumes in the VM's templates, owned by the VM, and says how far they are. */
export const ensureDataVolumes =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['ensureDataVolumes'] =>
  async (ref) => {
    const vm = await readVirtualMachine(kube, ref);
    const { dataVolumeTemplates = [] } = vm.spec;
    try {
      const found = await Promise.all(dataVolumeTemplates.map((template) => ensure(kube, vm, template)));
      return { state: dataVolumeState(found) ?? 'ready' };
    } catch (error) {
      if (!isNotServed(error)) throw error;
      const what = 'spec.dataVolumeTemplates needs DataVolumes (cdi.kubevirt.io), which this cluster does not serve';
      throw failure('VolumeNotFound', `${what}: install CDI, or use claims that exist. It is tried again.`, error);
    }
  };

const ensure = async (kube: KubePort, vm: VirtualMachine, { metadata, spec }: Template): Promise<DataVolume> => {
  const name = { namespace: vm.metadata?.namespace ?? '', name: metadata?.name ?? '' };
  const existing = await kube.get('DataVolume', name);
  if (existing !== undefined) return existing;
  // A claim that is there already is what a DataVolume of its name would make of it.
  if ((await kube.get('PersistentVolumeClaim', name)) !== undefined) return { status: { phase: 'Succeeded' } };
  const { labels, annotations } = metadata ?? {};
  try {
    const created = await kube.create('DataVolume', {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: {
        ...name,
        labels: { ...labels, 'kubevirt.io/created-by': vm.metadata?.uid ?? '' },
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [ownerReference(vm)],
      },
      // Two generated types of one thing.
      spec: spec as DataVolumeSpec,
    });
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return {};
  }
};
