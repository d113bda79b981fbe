import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { KubePort } from '../../kube/port.ts';
import { getIfServed } from '../volumes/get-if-served.ts';

/** What is read of CDI's DataVolume. */
export interface DataVolume {
  metadata?: { name?: string };
  status?: {
    phase?: string;
    conditions?: { type: string; status: string; reason?: string }[];
  };
}

/** Reasons of a DataVolume's condition Running that it does not get out of by itself soon. */
const ERRORS = ['Error', 'ImagePullFailed'];
/** Phases in which it is filled, or waits for whoever fills it. */
const FILLED = ['Succeeded', 'PendingPopulation'];

/** How far the DataVolumes of a VM's volumes are: one of them fails, or one is being filled; undefined: nothing is waited for. */
export const dataVolumeState = (dataVolumes: readonly DataVolume[]): 'failed' | 'provisioning' | undefined => {
  if (dataVolumes.some(isFailing)) return 'failed';
  return dataVolumes.some(isBeingFilled) ? 'provisioning' : undefined;
};

const conditionOf = ({ status }: DataVolume, wanted: string): { status: string; reason?: string } | undefined =>
  status?.conditions?.find(({ type }) => type === wanted);

const isFailing = (dataVolume: DataVolume): boolean => {
  const running = conditionOf(dataVolume, 'Running');
  return (
    dataVolume.status?.phase === 'Failed' || (running?.status === 'False' && ERRORS.includes(running.reason ?? ''))
  );
};

/** One that waits for its first consumer is waited for by nobody, unless its claim is bound. */
const isBeingFilled = (dataVolume: DataVolume): boolean => {
  const { phase = '' } = dataVolume.status ?? {};
  if (FILLED.includes(phase)) return false;
  return phase !== 'WaitForFirstConsumer' || conditionOf(dataVolume, 'Bound')?.status === 'True';
};

/** The DataVolumes of the VM's volumes that exist; none where the cluster serves no DataVolumes. */
export const dataVolumesOf = async (kube: KubePort, vm: VirtualMachine): Promise<DataVolume[]> => {
  const namespace = vm.metadata?.namespace ?? '';
  // The type says that there is a template with a list; an object of the API server need not keep to it.
  const { volumes } = (vm.spec as Partial<VirtualMachine['spec']>).template?.spec ?? {};
  const names = (Array.isArray(volumes) ? volumes : []).flatMap(({ dataVolume }) => dataVolume?.name ?? []);
  const found = await Promise.all(names.map((name) => getIfServed(kube, 'DataVolume', { namespace, name })));
  return found.filter((dataVolume) => dataVolume !== undefined);
};
