import type { Features, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** A feature that is mentioned is meant to be on. */
const enable = (feature: { enabled?: boolean } | undefined): void => {
  if (feature !== undefined) feature.enabled ??= true;
};

const SPINLOCK_RETRIES = 4096;

/** ACPI is on everywhere but on s390x, which has none. */
export const completeFeatures = ({ architecture, domain }: VirtualMachineInstanceSpec): void => {
  const features = (domain.features ??= {});
  features.acpi ??= {};
  features.acpi.enabled ??= architecture !== 's390x';
  enable(features.apic);
  enable(features.smm);
  enable(features.pvspinlock);
  completeHyperv(features.hyperv);
};

const completeHyperv = (hyperv: Features['hyperv']): void => {
  if (hyperv === undefined) return;
  Object.values(hyperv).forEach(enable);
  enable(hyperv.synictimer?.direct);
  enable(hyperv.tlbflush?.direct);
  enable(hyperv.tlbflush?.extended);
  if (hyperv.spinlocks?.enabled === true) hyperv.spinlocks.spinlocks ??= SPINLOCK_RETRIES;
};

/** A framebuffer of a virtual GPU's display that is mentioned is on. */
export const completeDisplays = ({ domain }: VirtualMachineInstanceSpec): void => {
  for (const { virtualGPUOptions } of domain.devices.gpus ?? []) enable(virtualGPUOptions?.display?.ramFB);
};

/** A timer that is mentioned is present. */
export const completeClock = ({ domain }: VirtualMachineInstanceSpec): void => {
  const { hpet, kvm, pit, rtc, hyperv } = domain.clock?.timer ?? {};
  for (const timer of [hpet, kvm, pit, rtc, hyperv]) if (timer !== undefined) timer.present ??= true;
};
