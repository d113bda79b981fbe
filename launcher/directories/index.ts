import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { quantityValue } from '../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance, Volume } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { CopiedDisk } from '../../api/launcher/migration.ts';
import {
  LAUNCHER_VOLUMES,
  SERIAL_LOG,
  SERIAL_SOCKET,
  VNC_SOCKET,
  cloudInitImage,
  containerDiskImage,
  emptyDiskImage,
  networkDataDirectory,
  overlayImage,
  userDataDirectory,
  volumeDirectory,
} from '../../api/launcher/paths.ts';
import { ConversionError } from '../converter/errors.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { NETWORK_DATA_KEYS, USER_DATA_KEYS, noCloudFiles } from './cloud-init.ts';
import { writeIso } from './iso.ts';
import { ensureEmptyImage, ensureOverlay } from './qcow2.ts';

/** Label by which cloud-init finds a NoCloud seed. */
const NO_CLOUD_LABEL = 'cidata';

/** Host name of the guest, as KubeVirt chooses it. */
export const hostnameOf = ({ spec, metadata }: VirtualMachineInstance): string =>
  spec.hostname || (metadata?.name ?? '').replace(/\..*/, '');

/** KubeVirt's names of console and display in a launcher Pod, so that tools that look there find them. */
export function linkConsoles(vmiUid: string): void {
  const directory = join(LAUNCHER_VOLUMES.private.path, vmiUid);
  mkdirSync(directory, { recursive: true });
  for (const [name, target] of [
    ['virt-serial0', SERIAL_SOCKET],
    ['virt-serial0-log', SERIAL_LOG],
    ['virt-vnc', VNC_SOCKET],
  ] as const) {
    const link = join(directory, name);
    rmSync(link, { force: true });
    symlinkSync(target, link);
  }
}

/**
 * Makes the images that belong to the launcher: overlays, empty disks, cloud-init seeds. Safe to repeat. Images of claims, container disks and host
 * disks are put into place by the node worker.
 * @param copied disks whose content a migration will bring: their size must be what it is at the source
 * @throws CommandRefused, ConversionError
 */
export async function prepareDisks(
  vmi: VirtualMachineInstance,
  host: HostFacts,
  copied: readonly CopiedDisk[] = [],
): Promise<void> {
  for (const volume of vmi.spec.volumes ?? []) {
    await prepareVolume(volume, vmi, host, copied.find((disk) => disk.volume === volume.name)?.size);
  }
}

async function prepareVolume(
  volume: Volume,
  vmi: VirtualMachineInstance,
  host: HostFacts,
  size: number | undefined,
): Promise<void> {
  const { name, containerDisk, ephemeral, emptyDisk, cloudInitNoCloud } = volume;
  const format = host.backingFormats?.[name] ?? 'raw';
  if (containerDisk) await overlay(name, containerDiskImage(name), format, size);
  if (ephemeral) await overlay(name, join(volumeDirectory(name), 'disk.img'), 'raw', size);
  if (emptyDisk) await ensureEmptyImage(emptyDiskImage(name), size ?? quantityValue(String(emptyDisk.capacity)));
  if (cloudInitNoCloud) await cloudInit(name, cloudInitNoCloud, vmi);
  if (cloudInitNoCloud && size !== undefined) truncateSync(cloudInitImage(name), size);
  if (notMadeYet(volume)) {
    throw new ConversionError(
      `spec.volumes[${name}]`,
      'this kind of volume is not supported as a disk by this release',
    );
  }
}

const notMadeYet = ({
  cloudInitConfigDrive,
  configMap,
  secret,
  downwardAPI,
  serviceAccount,
  sysprep,
}: Volume): boolean =>
  [cloudInitConfigDrive, configMap, secret, downwardAPI, serviceAccount, sysprep].some(
    (source) => source !== undefined,
  );

async function overlay(volume: string, backing: string, format: 'raw' | 'qcow2', size?: number): Promise<void> {
  if (!existsSync(backing)) throw new CommandRefused('failed', `volume ${volume}: ${backing} is not there yet`);
  await ensureOverlay(overlayImage(volume), backing, format, size);
}

async function cloudInit(
  volume: string,
  source: NonNullable<Volume['cloudInitNoCloud']>,
  vmi: VirtualMachineInstance,
): Promise<void> {
  const secrets = {
    userData: source.secretRef && readSecret(volume, userDataDirectory(volume), USER_DATA_KEYS),
    networkData: source.networkDataSecretRef && readSecret(volume, networkDataDirectory(volume), NETWORK_DATA_KEYS),
  };
  const { name = '', namespace = '' } = vmi.metadata ?? {};
  const files = noCloudFiles(volume, source, secrets, { name, namespace, hostname: hostnameOf(vmi) });
  await writeIso(cloudInitImage(volume), NO_CLOUD_LABEL, files);
}

function readSecret(volume: string, directory: string, keys: readonly string[]): string {
  const file = keys.map((key) => join(directory, key)).find(existsSync);
  if (file === undefined) {
    throw new ConversionError(
      `spec.volumes[${volume}].cloudInitNoCloud`,
      `its Secret has none of the keys ${keys.join(', ')}`,
    );
  }
  return readFileSync(file, 'utf8');
}
