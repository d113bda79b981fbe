import { expect, test } from '@jest/globals';
import { kubeVirtWithoutEffect, validateKubeVirt } from '../../../../api/validation/index.ts';
import { short } from './told.ts';

const PROFILE = 'spec.configuration.seccompConfiguration.virtualMachineInstanceProfile.customProfile';
const configuration = (parts: object): object => ({ spec: { configuration: parts } });
const seccomp = (profile: object): object =>
  configuration({ seccompConfiguration: { virtualMachineInstanceProfile: profile } });

test.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['no spec', { spec: {} }, []],
  ['a profile of the runtime', seccomp({ customProfile: { runtimeDefaultProfile: true } }), []],
  ['a profile that is none', seccomp({}), [`Required ${PROFILE}`]],
  ['an empty profile', seccomp({ customProfile: {} }), [`Required ${PROFILE}`]],
  [
    'two profiles',
    seccomp({ customProfile: { runtimeDefaultProfile: true, localhostProfile: 'a.json' } }),
    [`Invalid ${PROFILE}`],
  ],
  [
    'several fields that cannot be read',
    configuration({
      additionalGuestMemoryOverheadRatio: 'much',
      developerConfiguration: { cpuAllocationRatio: 0 },
      migrations: { maxDowntimeMs: 2_000_001 },
      evictionStrategy: 'Never',
      seccompConfiguration: { virtualMachineInstanceProfile: {} },
    }),
    [
      'Invalid spec.configuration.additionalGuestMemoryOverheadRatio',
      'Invalid spec.configuration.developerConfiguration.cpuAllocationRatio',
      'Invalid spec.configuration.evictionStrategy',
      'Invalid spec.configuration.migrations.maxDowntimeMs',
      `Required ${PROFILE}`,
    ],
  ],
])('a configuration with %s', (_, object, expected) => {
  expect(short(validateKubeVirt(object)).sort()).toEqual(expected.sort());
});

test("what is of KubeVirt's operator is said to have no effect", () => {
  const object = { spec: { infra: { replicas: 2 }, workloads: {}, imageTag: '', customizeComponents: { flags: {} } } };
  expect(kubeVirtWithoutEffect(object).map(({ field }) => field)).toEqual(['spec.customizeComponents', 'spec.infra']);
  expect(kubeVirtWithoutEffect({})).toEqual([]);
});

test('that references to instance types are to be expanded has no effect, either', () => {
  const policy = (referencePolicy: string) => configuration({ instancetype: { referencePolicy } });
  const field = 'spec.configuration.instancetype.referencePolicy';
  expect(kubeVirtWithoutEffect(policy('expandAll'))).toMatchObject([{ field }]);
  expect(kubeVirtWithoutEffect(policy('reference'))).toEqual([]);
});
