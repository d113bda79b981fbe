import { expect, test } from '@jest/globals';
import { features } from '../../../../../launcher/converter/concerns/features.ts';
import { host, vmi } from '../examples.ts';

const featuresOf = (spec: object, architecture = 'amd64') =>
  features(vmi({ domain: { features: spec }, spec: { architecture } }), host()).features;

const on = { '@state': 'on' };
const off = { '@state': 'off' };

test.each`
  spec                                                     | becomes
  ${{}}                                                    | ${{ acpi: '' }}
  ${{ acpi: { enabled: false } }}                          | ${{}}
  ${{ apic: {}, smm: { enabled: true } }}                  | ${{ acpi: '', apic: '', smm: '' }}
  ${{ apic: { enabled: false }, smm: { enabled: false } }} | ${{ acpi: '' }}
  ${{ kvm: { hidden: true } }}                             | ${{ acpi: '', kvm: { hidden: on } }}
  ${{ kvm: {} }}                                           | ${{ acpi: '', kvm: { hidden: off } }}
  ${{ pvspinlock: { enabled: false } }}                    | ${{ acpi: '', pvspinlock: off }}
  ${{ hypervPassthrough: { enabled: true } }}              | ${{ acpi: '', hyperv: { '@mode': 'passthrough' } }}
`('$spec', ({ spec, becomes }) => {
  expect(featuresOf(spec as object)).toEqual({ ...(becomes as object), vmport: off });
});

test('only x86 has a VMware port to switch off', () => {
  expect(featuresOf({}, 'arm64')?.vmport).toBeUndefined();
});

test('dedicated CPUs are announced to x86 guests', () => {
  const dedicated = (architecture: string) =>
    features(vmi({ domain: { cpu: { dedicatedCpuPlacement: true } }, spec: { architecture } }), host()).features?.kvm;
  expect(dedicated('amd64')).toEqual({ 'hint-dedicated': on });
  expect(dedicated('s390x')).toBeUndefined();
});

test('enlightenments are on where they are named, with what belongs to them', () => {
  const hyperv = {
    relaxed: {},
    vapic: { enabled: false },
    spinlocks: { spinlocks: 8191 },
    vendorid: { vendorid: 'nest' },
    synictimer: { direct: {} },
    tlbflush: { enabled: true, extended: { enabled: false } },
  };
  expect(featuresOf({ hyperv })?.hyperv).toEqual({
    relaxed: on,
    vapic: off,
    spinlocks: { ...on, '@retries': 8191 },
    vendor_id: { ...on, '@value': 'nest' },
    stimer: { ...on, direct: on },
    tlbflush: { ...on, extended: off },
  });
});
