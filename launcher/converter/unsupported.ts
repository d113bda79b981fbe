import type { VirtualMachineInstance, Volume } from '../../api/kubevirt/types.ts';
import { ConversionError } from './errors.ts';

interface Feature {
  name: string;
  field: string;
  usedBy: (vmi: VirtualMachineInstance) => boolean;
}

const isPlugged = ({ persistentVolumeClaim, dataVolume }: Volume): boolean =>
  (persistentVolumeClaim?.hotpluggable ?? dataVolume?.hotpluggable) === true;

/** What is rendered, while the launcher or the node's worker lacks what stands behind it. */
const NOT_SERVED: Feature[] = [
  {
    name: 'network binding other than bridge and masquerade',
    field: 'spec.domain.devices.interfaces',
    usedBy: ({ spec }) =>
      (spec.domain.devices.interfaces ?? []).some(
        ({ binding, sriov, passt, passtBinding, slirp, macvtap }) =>
          binding ?? sriov ?? passt ?? passtBinding ?? slirp ?? macvtap,
      ),
  },
  {
    name: 'virtiofs',
    field: 'spec.domain.devices.filesystems',
    usedBy: ({ spec }) => (spec.domain.devices.filesystems ?? []).length > 0,
  },
  {
    name: 'vsock',
    field: 'spec.domain.devices.autoattachVSOCK',
    usedBy: ({ spec, status }) =>
      spec.domain.devices.autoattachVSOCK === true || (status !== undefined && 'VSOCKCID' in status),
  },
  {
    name: 'downward metrics',
    field: 'spec.domain.devices.downwardMetrics',
    usedBy: ({ spec }) =>
      spec.domain.devices.downwardMetrics !== undefined ||
      (spec.volumes ?? []).some(({ downwardMetrics }) => downwardMetrics),
  },
  {
    name: 'hot-plugged volume',
    field: 'spec.volumes',
    usedBy: ({ spec }) => (spec.volumes ?? []).some(isPlugged),
  },
  {
    name: 'secure execution',
    field: 'spec.domain.launchSecurity',
    usedBy: ({ spec }) => spec.domain.launchSecurity !== undefined && spec.architecture === 's390x',
  },
];

/** What the converter does not know yet. */
const UNKNOWN: Feature[] = [
  { name: 'GPU', field: 'spec.domain.devices.gpus', usedBy: ({ spec }) => (spec.domain.devices.gpus ?? []).length > 0 },
  {
    name: 'host device',
    field: 'spec.domain.devices.hostDevices',
    usedBy: ({ spec }) => (spec.domain.devices.hostDevices ?? []).length > 0,
  },
  {
    name: 'launch security',
    field: 'spec.domain.launchSecurity',
    usedBy: ({ spec }) => spec.domain.launchSecurity !== undefined && spec.architecture !== 's390x',
  },
  {
    name: 'realtime',
    field: 'spec.domain.cpu.realtime',
    usedBy: ({ spec }) => spec.domain.cpu?.realtime !== undefined,
  },
  {
    name: 'memory dump, utility and container path volumes',
    field: 'spec.volumes',
    usedBy: ({ spec }) =>
      (spec.utilityVolumes ?? []).length > 0 ||
      (spec.volumes ?? []).some(({ memoryDump, containerPath }) => memoryDump ?? containerPath),
  },
  {
    name: 'block size taken from the volume',
    field: 'spec.domain.devices.disks',
    usedBy: ({ spec }) =>
      (spec.domain.devices.disks ?? []).some(
        ({ blockSize }) => blockSize?.matchVolume !== undefined && blockSize.matchVolume.enabled !== false,
      ),
  },
  {
    name: 'SCSI reservation',
    field: 'spec.domain.devices.disks',
    usedBy: ({ spec }) => (spec.domain.devices.disks ?? []).some(({ lun }) => lun?.reservation),
  },
  {
    name: 'Ignition',
    field: 'metadata.annotations[kubevirt.io/ignitiondata]',
    usedBy: ({ metadata }) => metadata?.annotations?.['kubevirt.io/ignitiondata'] !== undefined,
  },
  {
    name: 'changed block tracking',
    field: 'status.changedBlockTracking',
    usedBy: ({ status }) => status?.changedBlockTracking !== undefined,
  },
];

export interface UnsupportedFeature {
  name: string;
  field: string;
}

const asked = (vmi: VirtualMachineInstance, features: Feature[]): UnsupportedFeature[] =>
  features.filter(({ usedBy }) => usedBy(vmi)).map(({ name, field }) => ({ name, field }));

/** What of a VMI cannot be rendered. */
export const unknownFeatures = (vmi: VirtualMachineInstance): UnsupportedFeature[] => asked(vmi, UNKNOWN);

/** Everything of a VMI that its guest could not have. */
export const unsupportedFeatures = (vmi: VirtualMachineInstance): UnsupportedFeature[] =>
  asked(vmi, [...NOT_SERVED, ...UNKNOWN]);

/**
 * A guest without a device that its owner asked for would be worse than none.
 * @throws ConversionError naming everything that is not supported
 */
export function refuse(unsupported: UnsupportedFeature[]): void {
  const [first] = unsupported;
  if (first)
    throw new ConversionError(first.field, `not supported yet: ${unsupported.map(({ name }) => name).join(', ')}`);
}
