import type { ClusterConfig } from '../cluster-config/index.ts';
import { compareQuantities } from '../kubernetes/quantity.ts';
import type { Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, needsGate, notFound, oneOf, repeated, required, when } from './cause.ts';
import { isFilePath } from './formats.ts';

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

/** A VMI has one of each at most. */
const SINGLE = ['serviceAccount', 'downwardMetrics', 'memoryDump'] as const;

/** Paths of the launcher's own in its containers. */
const LAUNCHER_PATHS = ['/var/run/kubevirt', '/var/run/libvirt'];

export const volumeRules: Rule = ({ spec }, config) => {
  const { volumes = [], utilityVolumes = [] } = spec;
  return [
    ...repeated(volumes).map((index) =>
      invalid(
        `spec.volumes[${index}].name`,
        `"${volumes[index]?.name}" is the name of an earlier volume: names are unique`,
      ),
    ),
    ...volumes.flatMap((volume, index) => {
      const field = `spec.volumes[${index}]`;
      return [...source(volume, field), ...reference(volume, field), ...hostDisk(volume, field, config)];
    }),
    ...volumes.flatMap(({ downwardMetrics }, index) =>
      downwardMetrics === undefined ? [] : needsGate(`spec.volumes[${index}]`, 'DownwardMetrics', config),
    ),
    ...SINGLE.flatMap((kind) =>
      when(volumes.filter((volume) => volume[kind] !== undefined).length > 1, () =>
        invalid('spec.volumes', `several volumes are ${kind}: keep one`),
      ),
    ),
    ...when(utilityVolumes.length > 0, () =>
      invalid('spec.utilityVolumes', 'utility volumes are plugged into a VMI that runs: drop them'),
    ),
  ];
};

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

/** What a volume refers to is named. */
const reference = (volume: Volume, field: string): Cause[] => {
  const { configMap, containerDisk, dataVolume, secret, serviceAccount } = volume;
  const path = containerDisk?.path ?? '';
  return [
    ...when(path !== '' && !isFilePath(path), () =>
      invalid(`${field}.containerDisk`, `path "${path}" must be absolute, name a file and stay below its directory`),
    ),
    ...when(dataVolume?.name === '', () => required(`${field}.name`, 'name the DataVolume in dataVolume.name')),
    ...when(configMap !== undefined && !configMap.name, () => invalid(`${field}.configMap.name`, 'name the ConfigMap')),
    ...when(secret !== undefined && !secret.secretName, () => invalid(`${field}.secret.secretName`, 'name the Secret')),
    ...when(serviceAccount !== undefined && !serviceAccount.serviceAccountName, () =>
      invalid(`${field}.serviceAccount.serviceAccountName`, 'name the service account'),
    ),
  ];
};

const hostDisk = ({ hostDisk: disk }: Volume, field: string, config: ClusterConfig): Cause[] => {
  if (disk === undefined) return [];
  const { path, type, capacity } = disk;
  return [
    ...needsGate(field, 'HostDisk', config),
    ...when(!path, () => notFound(`${field}.hostDisk.path`, "name the image's path on the node")),
    ...oneOf(`${field}.hostDisk.type`, type ?? '', ['Disk', 'DiskOrCreate']),
    ...when(type === 'Disk' && capacity !== undefined && compareQuantities(capacity, '0') !== 0, () =>
      invalid(`${field}.hostDisk.capacity`, 'an image that exists has its size: drop it, or set type DiskOrCreate'),
    ),
  ];
};

/** Each volume of a VMI is used; paths of the launcher's containers by file systems only. A VM's volumes may wait for their disks. */
export const volumesAreUsed: Rule = ({ spec }) => {
  const { disks = [], filesystems = [] } = spec.domain.devices;
  return (spec.volumes ?? []).flatMap(({ name, containerPath, memoryDump }, index) => {
    if (memoryDump !== undefined) return [];
    const field = `spec.domain.volumes[${index}]`;
    const asDisk = disks.some((disk) => disk.name === name);
    const asFilesystem = filesystems.some((filesystem) => filesystem.name === name);
    const shown = containerPath !== undefined;
    return [
      ...when(!asDisk && !asFilesystem, () =>
        invalid(`${field}.name`, `neither a disk nor a file system is named "${name}": add one, or drop the volume`),
      ),
      ...when(shown && asDisk, () => invalid(field, `"${name}" is a path: use a file system, not a disk`)),
      ...when(shown && !asFilesystem, () => invalid(field, `no file system is named "${name}": add it`)),
      ...when(shown && LAUNCHER_PATHS.some((path) => containerPath.path.startsWith(path)), () =>
        invalid(`${field}.containerPath.path`, `"${containerPath?.path}" is the launcher’s own: use another path`),
      ),
    ];
  });
};
