import type { Interface, Network, VirtualMachineInstance, Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { unsupported } from './cause.ts';

/** What of KubeVirt's API virtflow cannot do yet: refused by name instead of being left out in silence. */
export const unsupportedFeatures: Rule = (vmi) => [
  ...features(vmi),
  ...(vmi.spec.volumes ?? []).flatMap((volume, index) => volumes(volume, `spec.volumes[${index}]`)),
  ...(vmi.spec.networks ?? []).flatMap((network, index) => networks(network, `spec.networks[${index}]`)),
  ...(vmi.spec.domain.devices.interfaces ?? []).flatMap((nic, index) =>
    interfaces(nic, `spec.domain.devices.interfaces[${index}]`),
  ),
];

const notYet = (field: string, remedy = ''): Cause =>
  unsupported(field, `not supported yet${remedy ? `: ${remedy}` : ''}`);

/** Causes for those entries that are set. */
const listed = (entries: Record<string, unknown>): Cause[] =>
  Object.entries(entries).flatMap(([field, value]) => (isSet(value) ? [notYet(field)] : []));

const isSet = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;

/** A switch that is on where it stands, unless it says otherwise. */
const isOn = (given: { enabled?: boolean } | undefined): boolean => given !== undefined && given.enabled !== false;

const features = ({ metadata, spec }: VirtualMachineInstance): Cause[] => {
  const { cpu, devices, launchSecurity } = spec.domain;
  const { disks = [] } = devices;
  return listed({
    'spec.accessCredentials': spec.accessCredentials,
    'spec.domain.cpu.realtime': cpu?.realtime,
    'spec.domain.devices.autoattachVSOCK': devices.autoattachVSOCK,
    'spec.domain.devices.clientPassthrough': devices.clientPassthrough,
    'spec.domain.devices.downwardMetrics': devices.downwardMetrics,
    'spec.domain.devices.filesystems': devices.filesystems,
    'spec.domain.devices.gpus': devices.gpus,
    'spec.domain.devices.hostDevices': devices.hostDevices,
    'spec.domain.launchSecurity': launchSecurity,
    'metadata.annotations[hooks.kubevirt.io/hookSidecars]': metadata?.annotations?.['hooks.kubevirt.io/hookSidecars'],
    'metadata.annotations[kubevirt.io/ignitiondata]': metadata?.annotations?.['kubevirt.io/ignitiondata'],
    'spec.utilityVolumes': spec.utilityVolumes,
    ...Object.fromEntries(
      disks.flatMap(({ lun, blockSize }, index) => [
        [`spec.domain.devices.disks[${index}].lun.reservation`, lun?.reservation],
        [`spec.domain.devices.disks[${index}].blockSize.matchVolume`, isOn(blockSize?.matchVolume)],
      ]),
    ),
  });
};

const volumes = (volume: Volume, field: string): Cause[] =>
  listed({
    [`${field}.cloudInitConfigDrive`]: volume.cloudInitConfigDrive,
    [`${field}.configMap`]: volume.configMap,
    [`${field}.containerPath`]: volume.containerPath,
    [`${field}.downwardAPI`]: volume.downwardAPI,
    [`${field}.downwardMetrics`]: volume.downwardMetrics,
    [`${field}.ephemeral`]: volume.ephemeral,
    [`${field}.memoryDump`]: volume.memoryDump,
    [`${field}.secret`]: volume.secret,
    [`${field}.serviceAccount`]: volume.serviceAccount,
    [`${field}.sysprep`]: volume.sysprep,
    [`${field}.persistentVolumeClaim.hotpluggable`]: volume.persistentVolumeClaim?.hotpluggable,
    [`${field}.dataVolume.hotpluggable`]: volume.dataVolume?.hotpluggable,
  });

const networks = (network: Network, field: string): Cause[] => listed({ [`${field}.multus`]: network.multus });

const MASQUERADE =
  'use masquerade; for VMs that name no interface set spec.configuration.network.defaultNetworkInterface of the KubeVirt object to it';

const interfaces = (nic: Interface, field: string): Cause[] => [
  ...(nic.bridge === undefined ? [] : [notYet(`${field}.bridge`, MASQUERADE)]),
  ...listed({
    [`${field}.binding`]: nic.binding,
    [`${field}.macvtap`]: nic.macvtap,
    [`${field}.passt`]: nic.passt,
    [`${field}.passtBinding`]: nic.passtBinding,
    [`${field}.slirp`]: nic.slirp,
    [`${field}.sriov`]: nic.sriov,
  }),
];
