import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import { compareQuantities } from '../kubernetes/quantity.ts';
import type { Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, isLabel, notFound, repeated, required, when } from './cause.ts';

/** Sources that the API knows; exactly one per volume. */
const SOURCES = [
  'cloudInitConfigDrive',
  'cloudInitNoCloud',
  'configMap',
  'containerDisk',
  'containerPath',
  'dataVolume',
  'downwardAPI',
  'downwardMetrics',
  'emptyDisk',
  'ephemeral',
  'hostDisk',
  'memoryDump',
  'persistentVolumeClaim',
  'secret',
  'serviceAccount',
  'sysprep',
] as const;

/** Names that Pod and launcher use themselves. */
const RESERVED = [
  'sockets',
  'state',
  'libvirt-runtime',
  'private',
  'ephemeral-disks',
  'container-disks',
  'virt-bin-share-dir',
  'kernel-boot-volume',
  'hugepages',
  'hugetblfs-dir',
];
/** Leaves room for "-udata" and for the prefix "volume" in names that Kubernetes bounds to 63 characters. */
const NAME_MAX = 57;

export const volumeRules: Rule = ({ spec }, config) => {
  const volumes = spec.volumes ?? [];
  return [
    ...repeated(volumes).map((index) =>
      invalid(
        `spec.volumes[${index}].name`,
        `"${volumes[index]?.name}" is the name of an earlier volume: names are unique`,
      ),
    ),
    ...volumes.flatMap((volume, index) => {
      const field = `spec.volumes[${index}]`;
      return [
        ...name(volume, field),
        ...source(volume, field),
        ...containerDisk(volume, field),
        ...hostDisk(volume, field, config),
        ...claim(volume, field),
      ];
    }),
  ];
};

const name = ({ name: given }: Volume, field: string): Cause[] => [
  ...when(!isLabel(given) || given.length > NAME_MAX, () =>
    invalid(
      `${field}.name`,
      `"${given}" is no name for a volume: use at most ${NAME_MAX} lower-case letters, digits and hyphens`,
    ),
  ),
  ...when(RESERVED.includes(given), () =>
    invalid(`${field}.name`, `"${given}" is used by the launcher Pod itself: choose another name`),
  ),
];

const source = (volume: Volume, field: string): Cause[] => {
  const known = SOURCES.filter((key) => volume[key] !== undefined);
  const unknown = Object.keys(volume).filter((key) => key !== 'name' && !SOURCES.some((source) => source === key));
  if (known.length === 1) return [];
  if (known.length > 1) return [invalid(field, `it has ${known.length} sources (${known.join(', ')}): keep one`)];
  return [
    invalid(
      field,
      (unknown.length > 0 ? `unknown volume type ${unknown.join(', ')}` : 'it has no source') +
        ': use for example containerDisk, persistentVolumeClaim, emptyDisk or cloudInitNoCloud',
    ),
  ];
};

const containerDisk = ({ containerDisk: disk }: Volume, field: string): Cause[] => {
  if (disk === undefined) return [];
  const { image, path } = disk;
  return [
    ...when(!image, () => required(`${field}.containerDisk.image`, 'name the image that holds the disk')),
    ...when(path !== undefined && path !== '' && !isFilePath(path.replace(/\/+$/, '')), () =>
      invalid(`${field}.containerDisk`, `path "${path}" must be absolute, name a file and stay below its directory`),
    ),
  ];
};

/** Absolute, no relative parts, not the root itself. */
export const isFilePath = (path: string): boolean =>
  path.startsWith('/') && !path.endsWith('/') && !path.split('/').some((part) => part === '.' || part === '..');

const hostDisk = ({ hostDisk: disk }: Volume, field: string, config: ClusterConfig): Cause[] => {
  if (disk === undefined) return [];
  const { path, type, capacity } = disk;
  const creates = type === 'DiskOrCreate';
  return [
    ...when(!hasGate(config, 'HostDisk'), () =>
      invalid(
        field,
        'hostDisk needs the feature gate HostDisk: add it to spec.configuration.developerConfiguration.featureGates of the KubeVirt object',
      ),
    ),
    ...when(!path, () => notFound(`${field}.hostDisk.path`, "name the image's path on the node")),
    ...when(Boolean(path) && !isFilePath(path), () =>
      invalid(`${field}.hostDisk.path`, `"${path}" must be the absolute path of a file`),
    ),
    ...when(!creates && type !== 'Disk', () =>
      invalid(`${field}.hostDisk.type`, `"${type}" is unknown: use Disk for an image that exists, else DiskOrCreate`),
    ),
    ...when(type === 'Disk' && capacity !== undefined && compareQuantities(capacity, '0') !== 0, () =>
      invalid(`${field}.hostDisk.capacity`, 'an image that exists has its size: drop it, or set type DiskOrCreate'),
    ),
    ...when(creates && (capacity === undefined || compareQuantities(capacity, '0') <= 0), () =>
      required(`${field}.hostDisk.capacity`, 'an image that may have to be made needs a size'),
    ),
  ];
};

const claim = ({ persistentVolumeClaim, dataVolume, ephemeral, emptyDisk }: Volume, field: string): Cause[] => [
  ...when(persistentVolumeClaim !== undefined && !persistentVolumeClaim.claimName, () =>
    required(`${field}.persistentVolumeClaim.claimName`, 'name the claim'),
  ),
  ...when(dataVolume !== undefined && !dataVolume.name, () =>
    required(`${field}.name`, 'name the DataVolume in dataVolume.name'),
  ),
  ...when(ephemeral !== undefined && !ephemeral.persistentVolumeClaim?.claimName, () =>
    required(`${field}.ephemeral.persistentVolumeClaim.claimName`, 'name the claim'),
  ),
  ...when(emptyDisk !== undefined && compareQuantities(emptyDisk.capacity, '0') <= 0, () =>
    invalid(`${field}.emptyDisk.capacity`, 'an empty disk needs a size above 0'),
  ),
];
