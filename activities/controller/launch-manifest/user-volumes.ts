import { dirname } from 'node:path/posix';
import {
  LAUNCHER_VOLUMES,
  blockDevice,
  hostDiskDirectory,
  networkDataDirectory,
  secretDirectory,
  userDataDirectory,
  volumeDirectory,
} from '../../../api/launcher/paths.ts';
import type { PodVolume } from '../../../api/kubernetes/types.ts';
import type { Volume } from '../../../api/kubevirt/types.ts';
import { ManifestError } from './input.ts';
import type { LaunchInput } from './input.ts';
import { readOnly } from './mounted.ts';
import type { Mounted } from './mounted.ts';
import { claimNameOf, isHotplugged } from './traits.ts';

const DOWNWARD_METRICS_DIRECTORY = `${LAUNCHER_VOLUMES.private.path}/downwardmetric-disk`;
const DOWNWARD_METRICS_SIZE = '1Mi';

/**
 * The Pod's volumes for the VMI's volumes, in their order. Images of containers and disks made on the spot need none; volumes plugged
 * into the running guest come later.
 * @throws ManifestError naming the field of a volume that nothing can be mounted for
 */
export const userVolumes = (input: LaunchInput): Mounted[] =>
  (input.vmi.spec.volumes ?? []).flatMap((volume, index) =>
    isHotplugged(volume, input.vmi)
      ? []
      : [...claimVolume(volume, input), ...configVolume(volume, input), ...otherVolume(volume, index)],
  );

const claimVolume = (volume: Volume, { claims = {} }: LaunchInput): Mounted[] => {
  const claimName = claimNameOf(volume);
  if (claimName === undefined) return [];
  const { name } = volume;
  const readOnlyClaim =
    volume.persistentVolumeClaim?.readOnly === true || volume.ephemeral?.persistentVolumeClaim?.readOnly === true;
  const claim: PodVolume = {
    name,
    persistentVolumeClaim: { claimName, ...(readOnlyClaim ? { readOnly: true } : {}) },
  };
  return claims[claimName]?.volumeMode === 'Block'
    ? [{ volume: claim, device: { name, devicePath: blockDevice(name) } }]
    : [{ volume: claim, mount: { name, mountPath: volumeDirectory(name) } }];
};

/** Secrets, ConfigMaps and Pod fields; mounted only where a disk shows them to the guest. */
const configVolume = (volume: Volume, { vmi }: LaunchInput): Mounted[] => {
  const source = configSource(volume);
  if (source === undefined) return [];
  const hasDisk = (vmi.spec.domain.devices.disks ?? []).some(({ name }) => name === volume.name);
  return [{ volume: source, ...(hasDisk ? { mount: readOnly(volume.name, secretDirectory(volume.name)) } : {}) }];
};

const configSource = ({ name, secret, configMap, downwardAPI }: Volume): PodVolume | undefined => {
  const optional = (value: boolean | undefined): { optional?: boolean } =>
    value === undefined ? {} : { optional: value };
  if (secret) return { name, secret: { secretName: secret.secretName ?? '', ...optional(secret.optional) } };
  if (configMap) return { name, configMap: { name: configMap.name ?? '', ...optional(configMap.optional) } };
  if (downwardAPI) return { name, downwardAPI: { items: downwardItems(downwardAPI) } };
  return undefined;
};

type DownwardItems = NonNullable<NonNullable<PodVolume['downwardAPI']>['items']>;

const downwardItems = ({ fields = [] }: NonNullable<Volume['downwardAPI']>): DownwardItems =>
  fields.map(({ path, fieldRef, resourceFieldRef, mode }) => ({
    path,
    ...(fieldRef ? { fieldRef } : {}),
    ...(resourceFieldRef ? { resourceFieldRef } : {}),
    ...(mode === undefined ? {} : { mode }),
  }));

const otherVolume = (volume: Volume, index: number): Mounted[] => {
  const { name, hostDisk, sysprep, downwardMetrics } = volume;
  if (hostDisk) {
    if (!hostDisk.path)
      throw new ManifestError(`spec.volumes[${index}].hostDisk.path: name the image's path on the node`);
    const type = { Disk: 'Directory', DiskOrCreate: 'DirectoryOrCreate' }[hostDisk.type] ?? '';
    return [
      {
        volume: { name, hostPath: { path: dirname(hostDisk.path), type } },
        mount: { name, mountPath: hostDiskDirectory(name) },
      },
    ];
  }
  if (sysprep) return [{ volume: answerFiles(volume, index), mount: readOnly(name, secretDirectory(name)) }];
  if (downwardMetrics) {
    return [
      {
        volume: { name, emptyDir: { medium: 'Memory', sizeLimit: DOWNWARD_METRICS_SIZE } },
        mount: { name, mountPath: DOWNWARD_METRICS_DIRECTORY },
      },
    ];
  }
  return cloudInitSecrets(volume);
};

const answerFiles = ({ name, sysprep }: Volume, index: number): PodVolume => {
  if (sysprep?.secret) return { name, secret: { secretName: sysprep.secret.name ?? '' } };
  if (sysprep?.configMap) return { name, configMap: { name: sysprep.configMap.name ?? '' } };
  throw new ManifestError(`spec.volumes[${index}].sysprep: name a secret or a configMap that holds the answer files`);
};

const cloudInitSecrets = ({ name, cloudInitNoCloud, cloudInitConfigDrive }: Volume): Mounted[] => {
  const source = cloudInitNoCloud ?? cloudInitConfigDrive;
  const secret = (suffix: string, secretName: string | undefined, directory: string): Mounted[] =>
    secretName === undefined
      ? []
      : [
          {
            volume: { name: `${name}-${suffix}`, secret: { secretName } },
            mount: readOnly(`${name}-${suffix}`, directory),
          },
        ];
  return [
    ...secret('udata', source?.secretRef?.name, userDataDirectory(name)),
    ...secret('ndata', source?.networkDataSecretRef?.name, networkDataDirectory(name)),
  ];
};
