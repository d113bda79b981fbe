import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import { compareQuantities, isQuantity } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstance, Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';
import { isFilePath } from './formats.ts';

/** Names that Pod and launcher use themselves. */
const RESERVED = [
  'sockets',
  'state',
  'libvirt-runtime',
  'private',
  'ephemeral-disks',
  'container-disks',
  'virt-bin-share-dir',
  'launcher-volume',
  'kernel-boot-volume',
  'hugepages',
  'hugetblfs-dir',
  'vm-state',
];
/** Leaves room for "-udata" and for the prefix "volume" in names that Kubernetes bounds to 63 characters. */
const VOLUME_NAME_MAX = 57;
/** Of a containerDisk without the ImageVolume gate: the suffix "-init" comes on top. */
const DISK_NAME_MAX = 52;
/** Room that names of files (255 bytes: "<namespace>_<name>" and a suffix) and of the run token's Lease leave. */
const NAME_MAX = 200;
/** A guest below one megabyte has no room for its firmware. */
const MIN_GUEST = '1M';

/** What KubeVirt takes, and what then fails when it starts. */
export const workableRules: Rule = (vmi, config) => [
  ...grace(vmi),
  ...resources(vmi),
  ...(vmi.spec.volumes ?? []).flatMap((volume, index) => {
    const field = `spec.volumes[${index}]`;
    return [...volumeName(volume, field, config), ...contents(volume, field), ...hostDisk(volume, field)];
  }),
];

/** A guest's name becomes the name of files and of a Lease. */
export const guestNameCauses = ({ namespace = '', name = '' }: { namespace?: string; name?: string }): Cause[] => {
  const length = namespace.length + 1 + name.length;
  return when(length > NAME_MAX, () =>
    invalid(
      'metadata.name',
      `name and namespace have ${length - 1} characters together, at most ${NAME_MAX - 1} fit the guest's files: choose a shorter name`,
    ),
  );
};

const grace = ({ spec }: VirtualMachineInstance): Cause[] => {
  const { terminationGracePeriodSeconds: seconds = 0 } = spec;
  return when(seconds < 0, () =>
    invalid(
      'spec.terminationGracePeriodSeconds',
      `${seconds} is negative: 0 destroys the guest at once, absent means 30`,
    ),
  );
};

const resources = ({ spec }: VirtualMachineInstance): Cause[] => {
  const { guest, hugepages } = spec.domain.memory ?? {};
  const { pageSize = '' } = hugepages ?? {};
  const negative = (list: 'requests' | 'limits'): Cause[] =>
    Object.entries(spec.domain.resources?.[list] ?? {}).flatMap(([name, quantity]) =>
      when(!['cpu', 'memory'].includes(name) && compareQuantities(quantity, '0') < 0, () =>
        invalid(`spec.domain.resources.${list}.${name}`, `${quantity} is negative`),
      ),
    );
  return [
    ...when(guest !== undefined && compareQuantities(guest, MIN_GUEST) < 0, () =>
      invalid('spec.domain.memory.guest', `${guest} is too little for a guest: at least ${MIN_GUEST}`),
    ),
    ...when(isQuantity(pageSize) && compareQuantities(pageSize, '0') <= 0, () =>
      invalid('spec.domain.memory.hugepages.pageSize', `${pageSize} is no page size: use for example 2Mi or 1Gi`),
    ),
    ...negative('requests'),
    ...negative('limits'),
  ];
};

const volumeName = ({ name, containerDisk }: Volume, field: string, config: ClusterConfig): Cause[] => {
  const max = containerDisk !== undefined && !hasGate(config, 'ImageVolume') ? DISK_NAME_MAX : VOLUME_NAME_MAX;
  return [
    ...when(name.length > max, () =>
      invalid(`${field}.name`, `the name has ${name.length} characters, at most ${max} fit the Pod's volumes`),
    ),
    ...when(RESERVED.includes(name), () =>
      invalid(`${field}.name`, `"${name}" is used by the launcher Pod itself: choose another name`),
    ),
  ];
};

const contents = (volume: Volume, field: string): Cause[] => {
  const { containerDisk, persistentVolumeClaim, ephemeral, emptyDisk } = volume;
  return [
    ...when(containerDisk !== undefined && !containerDisk.image, () =>
      required(`${field}.containerDisk.image`, 'name the image that holds the disk'),
    ),
    ...when(persistentVolumeClaim !== undefined && !persistentVolumeClaim.claimName, () =>
      required(`${field}.persistentVolumeClaim.claimName`, 'name the claim'),
    ),
    ...when(ephemeral !== undefined && !ephemeral.persistentVolumeClaim?.claimName, () =>
      required(`${field}.ephemeral.persistentVolumeClaim.claimName`, 'name the claim'),
    ),
    ...when(emptyDisk !== undefined && compareQuantities(emptyDisk.capacity, '0') <= 0, () =>
      invalid(`${field}.emptyDisk.capacity`, 'an empty disk needs a size above 0'),
    ),
  ];
};

const hostDisk = ({ hostDisk: disk }: Volume, field: string): Cause[] => {
  if (disk === undefined) return [];
  const { path, type, capacity } = disk;
  return [
    ...when(Boolean(path) && !isFilePath(path), () =>
      invalid(`${field}.hostDisk.path`, `"${path}" must be the absolute path of a file`),
    ),
    ...when(type === 'DiskOrCreate' && (capacity === undefined || compareQuantities(capacity, '0') <= 0), () =>
      required(`${field}.hostDisk.capacity`, 'an image that may have to be made needs a size'),
    ),
  ];
};
