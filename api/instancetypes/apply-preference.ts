import type { VirtualMachine, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Target } from './apply-instancetype.ts';
import { applyAutoattach, applyDevices } from './device-preferences.ts';
import type { PreferenceSpec } from './types.ts';

/** Fills in what the target leaves open and the preference has a word on. What the target says stays. */
export const applyPreference = (target: Target, preference: PreferenceSpec): void => {
  const { spec, metadata } = target;
  const preferred = structuredClone(preference);
  applyCpuFeatures(spec, preferred);
  if (preferred.devices !== undefined) {
    applyAutoattach(spec, preferred.devices);
    applyDevices(spec, preferred.devices);
  }
  applyFeatures(spec, preferred);
  applyFirmware(spec, preferred);
  applyMachine(spec, preferred);
  applyClock(spec, preferred);
  if (preferred.preferredSubdomain !== undefined) spec.subdomain ||= preferred.preferredSubdomain;
  const { preferredTerminationGracePeriodSeconds: grace, preferredArchitecture, preferredLaunchSecurity } = preferred;
  if (grace !== undefined) spec.terminationGracePeriodSeconds ??= grace;
  if (preferredArchitecture) spec.architecture ||= preferredArchitecture;
  if (preferredLaunchSecurity !== undefined) spec.domain.launchSecurity ??= preferredLaunchSecurity;
  if (preferred.annotations !== undefined) metadata.annotations = { ...preferred.annotations, ...metadata.annotations };
};

/**
 * What of a preference is settled in the VM when it is stored: what defaults would fill in otherwise (architecture, machine), and the storage class of
 * its DataVolumes, which are made before it starts. A copy.
 */
export const preferAtCreation = (vm: VirtualMachine, preference: PreferenceSpec): VirtualMachine => {
  const complete = structuredClone(vm);
  const { template, dataVolumeTemplates = [] } = complete.spec;
  if (template.spec !== undefined) {
    if (preference.preferredArchitecture) template.spec.architecture ||= preference.preferredArchitecture;
    applyMachine(template.spec, preference);
  }
  const storageClass = preference.volumes?.preferredStorageClassName;
  const storages = dataVolumeTemplates.flatMap(({ spec }) => [spec.pvc, spec.storage]);
  for (const storage of storages) if (storage !== undefined && storageClass) storage.storageClassName ??= storageClass;
  return complete;
};

/** The machine that the preference is for, if the target leaves it open. */
const applyMachine = ({ domain }: VirtualMachineInstanceSpec, { machine }: PreferenceSpec): void => {
  if (!machine?.preferredMachineType) return;
  domain.machine ??= { type: '' };
  domain.machine.type ||= machine.preferredMachineType;
};

const applyCpuFeatures = ({ domain }: VirtualMachineInstanceSpec, { cpu }: PreferenceSpec): void => {
  const own = domain.cpu?.features ?? [];
  const more = (cpu?.preferredCPUFeatures ?? []).filter(({ name }) => !own.some((feature) => feature.name === name));
  if (more.length > 0) domain.cpu = { ...domain.cpu, features: [...own, ...more] };
};

const applyFeatures = ({ domain }: VirtualMachineInstanceSpec, { features: preferred }: PreferenceSpec): void => {
  if (preferred === undefined) return;
  const { preferredAcpi, preferredApic, preferredHyperv, preferredKvm, preferredPvspinlock, preferredSmm } = preferred;
  const wanted = {
    ...(preferredAcpi === undefined ? {} : { acpi: preferredAcpi }),
    ...(preferredApic === undefined ? {} : { apic: preferredApic }),
    ...(preferredKvm === undefined ? {} : { kvm: preferredKvm }),
    ...(preferredPvspinlock === undefined ? {} : { pvspinlock: preferredPvspinlock }),
    ...(preferredSmm === undefined ? {} : { smm: preferredSmm }),
  };
  const hyperv = preferredHyperv === undefined ? {} : { hyperv: { ...preferredHyperv, ...domain.features?.hyperv } };
  domain.features = { ...wanted, ...domain.features, ...hyperv };
};

/** BIOS or EFI, as a whole: a target that has chosen one keeps it. */
const applyFirmware = ({ domain }: VirtualMachineInstanceSpec, { firmware: preferred }: PreferenceSpec): void => {
  if (preferred === undefined) return;
  const { preferredEfi, preferredUseBios, preferredUseBiosSerial, preferredUseEfi, preferredUseSecureBoot } = preferred;
  const bootloader = { ...domain.firmware?.bootloader };
  const isOpen = (): boolean => bootloader.bios === undefined && bootloader.efi === undefined;
  if (preferredUseBios === true && isOpen()) bootloader.bios = {};
  if (preferredUseBiosSerial !== undefined && bootloader.bios !== undefined)
    bootloader.bios = { useSerial: preferredUseBiosSerial, ...bootloader.bios };
  if (preferredEfi !== undefined && isOpen()) {
    bootloader.efi = preferredEfi;
  } else {
    if (preferredUseEfi === true && isOpen()) bootloader.efi = {};
    if (preferredUseSecureBoot !== undefined && bootloader.efi !== undefined)
      bootloader.efi = { secureBoot: preferredUseSecureBoot, ...bootloader.efi };
  }
  if (!isOpen()) domain.firmware = { ...domain.firmware, bootloader };
};

/** The offset is UTC's or a time zone's: never half of it. */
const applyClock = ({ domain }: VirtualMachineInstanceSpec, { clock: preferred }: PreferenceSpec): void => {
  if (preferred === undefined) return;
  const { preferredClockOffset: offset, preferredTimer } = preferred;
  const { utc, timezone } = domain.clock ?? {};
  domain.clock = {
    ...(utc === undefined && timezone === undefined ? offset : {}),
    ...(preferredTimer === undefined ? {} : { timer: preferredTimer }),
    ...domain.clock,
  };
};
