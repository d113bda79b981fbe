import type { Devices, Disk, Interface, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { DevicePreferences } from './types.ts';

/** Which devices come by themselves. Before any are added, so that those that are not wanted never come. */
export const applyAutoattach = (
  { domain: { devices } }: VirtualMachineInstanceSpec,
  wanted: DevicePreferences,
): void => {
  fill(devices, 'autoattachGraphicsDevice', wanted.preferredAutoattachGraphicsDevice);
  fill(devices, 'autoattachMemBalloon', wanted.preferredAutoattachMemBalloon);
  fill(devices, 'autoattachPodInterface', wanted.preferredAutoattachPodInterface);
  fill(devices, 'autoattachSerialConsole', wanted.preferredAutoattachSerialConsole);
  fill(devices, 'autoattachInputDevice', wanted.preferredAutoattachInputDevice);
};

/** How devices are, where the target does not say it. */
export const applyDevices = (spec: VirtualMachineInstanceSpec, wanted: DevicePreferences): void => {
  const { devices } = spec.domain;
  fill(devices, 'useVirtioTransitional', wanted.preferredUseVirtioTransitional);
  fill(devices, 'blockMultiQueue', wanted.preferredBlockMultiQueue);
  fill(devices, 'networkInterfaceMultiqueue', wanted.preferredNetworkInterfaceMultiQueue);
  fill(devices, 'disableHotplug', wanted.preferredDisableHotplug);
  fill(devices, 'rng', wanted.preferredRng);
  fill(devices, 'tpm', wanted.preferredTPM);
  if (devices.sound !== undefined) fillText(devices.sound, 'model', wanted.preferredSoundModel);
  if (wanted.preferredVideoType !== undefined) fillText((devices.video ??= {}), 'type', wanted.preferredVideoType);
  for (const disk of devices.disks ?? []) applyDisk(disk, wanted);
  for (const nic of devices.interfaces ?? []) applyInterface(nic, spec, wanted);
  for (const input of devices.inputs ?? []) {
    fillText(input, 'bus', wanted.preferredInputBus);
    fillText(input, 'type', wanted.preferredInputType);
  }
  applyPanicDevices(devices, wanted);
};

/** A disk that does not say what it is is a plain one. */
const applyDisk = (disk: Disk, wanted: DevicePreferences): void => {
  if (disk.cdrom !== undefined && disk.disk === undefined) return fillText(disk.cdrom, 'bus', wanted.preferredCdromBus);
  if (disk.lun !== undefined && disk.disk === undefined) return fillText(disk.lun, 'bus', wanted.preferredLunBus);
  const target = (disk.disk ??= {});
  fillText(target, 'bus', wanted.preferredDiskBus);
  fill(disk, 'blockSize', structuredClone(wanted.preferredDiskBlockSize));
  fillText(disk, 'cache', wanted.preferredDiskCache);
  fillText(disk, 'io', wanted.preferredDiskIO);
  if (target.bus === 'virtio') fill(disk, 'dedicatedIOThread', wanted.preferredDiskDedicatedIoThread);
};

const BINDINGS = ['bridge', 'masquerade', 'slirp', 'sriov', 'macvtap', 'passt', 'passtBinding', 'binding'] as const;

const applyInterface = (
  nic: Interface,
  { networks = [] }: VirtualMachineInstanceSpec,
  wanted: DevicePreferences,
): void => {
  fillText(nic, 'model', wanted.preferredInterfaceModel);
  const isOnPodNetwork = networks.find(({ name }) => name === nic.name)?.pod !== undefined;
  if (isOnPodNetwork && BINDINGS.every((binding) => nic[binding] === undefined))
    fill(nic, 'masquerade', structuredClone(wanted.preferredInterfaceMasquerade));
};

const applyPanicDevices = (devices: Devices, { preferredPanicDeviceModel: model }: DevicePreferences): void => {
  if (model === undefined) return;
  if ((devices.panicDevices ?? []).length === 0) devices.panicDevices = [{}];
  for (const device of devices.panicDevices ?? []) fill(device, 'model', model);
};

/** Sets a field that is absent. */
const fill = <T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void => {
  if (value !== undefined) target[key] ??= value;
};

/** Sets a text that is absent or empty. */
const fillText = <K extends string>(target: { [key in K]?: string }, key: K, value: string | undefined): void => {
  if (value !== undefined && value !== '') target[key] ||= value;
};
