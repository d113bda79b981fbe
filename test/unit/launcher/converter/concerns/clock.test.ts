import { expect, test } from '@jest/globals';
import { clock } from '../../../../../launcher/converter/concerns/clock.ts';
import { host, vmi } from '../examples.ts';

const clockOf = (spec: object) => clock(vmi({ domain: { clock: spec } }), host()).clock;

test.each`
  spec                                     | becomes
  ${{ utc: {} }}                           | ${{ '@offset': 'utc', '@adjustment': 'reset' }}
  ${{ utc: { offsetSeconds: -60 } }}       | ${{ '@offset': 'utc', '@adjustment': '-60' }}
  ${{ timezone: 'Europe/Paris' }}          | ${{ '@offset': 'timezone', '@timezone': 'Europe/Paris' }}
  ${{ utc: {}, timezone: 'Europe/Paris' }} | ${{ '@offset': 'utc', '@adjustment': 'reset' }}
`('offset $spec', ({ spec, becomes }) => {
  expect(clockOf(spec as object)).toEqual({ ...(becomes as object), timer: [] });
});

test('a timer that is named is present unless it says otherwise', () => {
  const timer = {
    hyperv: {},
    hpet: { present: false },
    pit: { tickPolicy: 'delay' },
    rtc: { track: 'guest' },
    kvm: { present: true },
  };
  expect(clockOf({ timer })?.timer).toEqual([
    { '@name': 'rtc', '@present': 'yes', '@track': 'guest' },
    { '@name': 'pit', '@present': 'yes', '@tickpolicy': 'delay' },
    { '@name': 'kvmclock', '@present': 'yes' },
    { '@name': 'hpet', '@present': 'no' },
    { '@name': 'hypervclock', '@present': 'yes' },
  ]);
});

test('without a word on clocks libvirt decides', () => {
  expect(clock(vmi(), host())).toEqual({});
});

test.each`
  needs                      | domain                                                              | timers
  ${'an invariant TSC'}      | ${{ cpu: { features: [{ name: 'invtsc', policy: 'require' }] } }}   | ${[{ '@name': 'tsc', '@frequency': 2600 }]}
  ${'reenlightenment'}       | ${{ features: { hyperv: { reenlightenment: { enabled: true } } } }} | ${[{ '@name': 'tsc', '@frequency': 2600 }]}
  ${'no constant frequency'} | ${{ cpu: { features: [{ name: 'invtsc', policy: 'disable' }] } }}   | ${undefined}
`('a guest that needs $needs gets the frequency picked for it', ({ domain, timers }) => {
  const status = { topologyHints: { tscFrequency: 2600 } };
  expect(clock(vmi({ domain: domain as object, status }), host()).clock?.timer).toEqual(timers);
});
