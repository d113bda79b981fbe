import { given, yesNo, type Concern } from '../concern.ts';
import type { Clock, Timer } from '../domain.ts';
import type { Clock as ClockSpec, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

function offset({ utc, timezone }: ClockSpec): Clock {
  if (utc) return { '@offset': 'utc', '@adjustment': String(utc.offsetSeconds ?? 'reset') };
  return timezone === undefined ? {} : { '@offset': 'timezone', '@timezone': timezone };
}

/** Timers in KubeVirt's order; a timer that is named is present unless it says otherwise. */
function timers({ timer }: ClockSpec): Timer[] {
  const named = (
    name: string,
    spec: { present?: boolean; tickPolicy?: string; track?: string } | undefined,
  ): Timer[] =>
    spec
      ? [
          {
            '@name': name,
            '@present': yesNo(spec.present ?? true),
            '@tickpolicy': given(spec.tickPolicy),
            '@track': given(spec.track),
          },
        ]
      : [];
  return [
    ...named('rtc', timer?.rtc),
    ...named('pit', timer?.pit),
    ...named('kvmclock', timer?.kvm),
    ...named('hpet', timer?.hpet),
    ...named('hypervclock', timer?.hyperv),
  ];
}

/**
 * A guest whose TSC must stay constant across hosts (invtsc, or Hyper-V's reenlightenment) gets the frequency that was picked for it.
 */
function tscTimer({ spec, status }: VirtualMachineInstance): Timer[] {
  const frequency = status?.topologyHints?.tscFrequency ?? 0;
  const invariant = spec.domain.cpu?.features?.some(
    ({ name, policy }) => name === 'invtsc' && (policy === 'require' || policy === 'force'),
  );
  const reenlightened = spec.domain.features?.hyperv?.reenlightenment?.enabled === true;
  return frequency > 0 && (invariant || reenlightened) ? [{ '@name': 'tsc', '@frequency': frequency }] : [];
}

/** Clock offset and timers. */
export const clock: Concern = (vmi) => {
  const spec = vmi.spec.domain.clock;
  const timer = [...timers(spec ?? {}), ...tscTimer(vmi)];
  return spec || timer.length > 0 ? { clock: { ...offset(spec ?? {}), timer } } : {};
};
