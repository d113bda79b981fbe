import { given, yesNo, type Concern } from '../concern.ts';
import type { Clock, Timer } from '../domain.ts';
import type { Clock as ClockSpec } from '../../../api/kubevirt/types.ts';

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

/** Clock offset and timers; a frequency that the guest's TSC must have, from the topology hints. */
export const clock: Concern = (vmi) => {
  const spec = vmi.spec.domain.clock;
  return spec ? { clock: { ...offset(spec), timer: timers(spec) } } : {};
};
