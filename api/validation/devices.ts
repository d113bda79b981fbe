import type { ClusterConfig } from '../cluster-config/index.ts';
import type { Devices, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, needsGate, oneOf, when } from './cause.ts';

const DEVICES = 'spec.domain.devices';
const PANIC_MODELS = ['hyperv', 'isa', 'pvpanic'];

/** Devices that are neither disks nor interfaces. */
export const deviceRules: Rule = ({ spec }, config) => {
  const { devices } = spec.domain;
  return [...inputs(devices), ...graphics(devices), ...sound(devices), ...panic(spec), ...gated(spec, config)];
};

const inputs = ({ inputs: list = [] }: Devices): Cause[] =>
  list.flatMap(({ bus, type }, index) => [
    ...oneOf(`${DEVICES}.inputs[${index}].bus`, bus, ['', 'virtio', 'usb']),
    ...oneOf(`${DEVICES}.inputs[${index}].type`, type, ['tablet']),
  ]);

const graphics = ({ autoattachGraphicsDevice, gpus = [], video }: Devices): Cause[] => {
  const framebuffers = gpus.filter(({ virtualGPUOptions }) => {
    const { display } = virtualGPUOptions ?? {};
    return display !== undefined && display.enabled !== false && display.ramFB?.enabled !== false;
  });
  return [
    ...when(framebuffers.length > 1, () => invalid('spec.GPUs', 'several displays with ramFB: keep one')),
    ...when(video !== undefined && autoattachGraphicsDevice === false, () =>
      invalid('spec.video', 'there is no graphics device: drop video, or autoattachGraphicsDevice: false'),
    ),
  ];
};

const sound = ({ sound: device }: Devices): Cause[] => {
  if (device === undefined) return [];
  return [
    ...oneOf('spec.Sound', device.model, ['', 'ich9', 'ac97']),
    ...when(!device.name, () => invalid('spec.Sound', 'the device needs a name')),
  ];
};

const panic = ({ architecture, domain }: VirtualMachineInstanceSpec): Cause[] => {
  const { panicDevices = [] } = domain.devices;
  return [
    ...when(panicDevices.length > 0 && architecture === 's390x', () =>
      invalid(`${DEVICES}.panicDevices`, 's390x has its own: drop them'),
    ),
    ...panicDevices.flatMap(({ model }, index) =>
      oneOf(`${DEVICES}.panicDevices[${index}].model`, model, PANIC_MODELS),
    ),
  ];
};

const gated = ({ domain, volumes = [] }: VirtualMachineInstanceSpec, config: ClusterConfig): Cause[] => {
  const { autoattachVSOCK, disks = [], downwardMetrics, filesystems = [], hostDevices = [] } = domain.devices;
  const onClaims = filesystems.some(({ name }) =>
    volumes.some((volume) => volume.name === name && (volume.persistentVolumeClaim ?? volume.dataVolume) !== undefined),
  );
  const behind = (used: boolean, field: string, gate: string): Cause[] => (used ? needsGate(field, gate, config) : []);
  return [
    ...behind(hostDevices.length > 0, 'spec.HostDevices', 'HostDevices'),
    ...behind(autoattachVSOCK === true, `${DEVICES}.autoattachVSOCK`, 'VSOCK'),
    ...behind(downwardMetrics !== undefined, `${DEVICES}.downwardMetrics`, 'DownwardMetrics'),
    ...behind(onClaims, `${DEVICES}.filesystems`, 'EnableVirtioFsStorageVolumes'),
    ...behind(
      disks.some(({ lun }) => lun?.reservation === true),
      `${DEVICES}.disks.luns.reservation`,
      'PersistentReservation',
    ),
    ...behind(domain.rebootPolicy !== undefined, 'spec.domain.rebootPolicy', 'RebootPolicy'),
  ];
};
