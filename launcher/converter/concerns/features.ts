import { architectureOf } from '../architecture.ts';
import { onOff, state, type Concern } from '../concern.ts';
import type { Flag } from '../domain.ts';
import { hyperv } from './hyperv.ts';

const flag = (feature: { enabled?: boolean } | undefined): Flag | undefined =>
  feature && (feature.enabled ?? true) ? '' : undefined;

/** Hypervisor features. ACPI is on unless switched off; the VMware port, which x86 machines have by default, is always off. */
export const features: Concern = (vmi) => {
  const { features: spec, cpu } = vmi.spec.domain;
  const dedicated = cpu?.dedicatedCpuPlacement === true && vmi.spec.architecture === 'amd64';
  const hidden = spec?.kvm && { '@state': onOff(spec.kvm.hidden ?? false) };
  return {
    features: {
      acpi: spec && flag(spec.acpi ?? {}),
      smm: flag(spec?.smm),
      apic: flag(spec?.apic),
      hyperv: hyperv(spec),
      kvm: hidden || dedicated ? { hidden, 'hint-dedicated': dedicated ? { '@state': 'on' } : undefined } : undefined,
      pvspinlock: state(spec?.pvspinlock),
      vmport: spec && architectureOf(vmi).hasVmPort ? { '@state': 'off' } : undefined,
    },
  };
};
