import { z } from 'zod';
import { unreadableFields } from '../cluster-config/index.ts';
import type { Cause } from './cause.ts';
import { forbidden, invalid, required, when } from './cause.ts';

const PROFILE = 'spec.configuration.seccompConfiguration.virtualMachineInstanceProfile.customProfile';

const customProfile = z.looseObject({
  localhostProfile: z.string().optional(),
  runtimeDefaultProfile: z.boolean().optional(),
});
/** What the rules below look at. */
const looked = z.object({
  spec: z.object({
    configuration: z.object({
      seccompConfiguration: z.object({
        virtualMachineInstanceProfile: z.object({ customProfile: customProfile.default({}) }),
      }),
    }),
  }),
});

/** Every reason to refuse a KubeVirt object: fields that its reader would stumble over, and what contradicts itself. */
export const validateKubeVirt = (object: unknown): Cause[] => {
  const unreadable = unreadableFields(object).map(({ field, message }) => invalid(field, message));
  return [...unreadable, ...seccompCauses(object)];
};

const seccompCauses = (object: unknown): Cause[] => {
  const { data } = looked.safeParse(object);
  if (data === undefined) return [];
  const profile = data.spec.configuration.seccompConfiguration.virtualMachineInstanceProfile.customProfile;
  const [local, runtime] = [Boolean(profile.localhostProfile), profile.runtimeDefaultProfile === true];
  return [
    ...when(!local && !runtime, () =>
      required(PROFILE, 'say which profile: a path as localhostProfile, or runtimeDefaultProfile: true'),
    ),
    ...when(local && runtime, () =>
      invalid(PROFILE, 'localhostProfile and runtimeDefaultProfile exclude each other: keep one'),
    ),
  ];
};

/** There is one configuration: a second object would have no effect. @param existing namespace and name of the one that there is */
export const onlyKubeVirt = (existing: string): Cause =>
  forbidden(
    'metadata.name',
    `there is one KubeVirt object, ${existing}, and its configuration counts: change that one`,
  );

/** What of KubeVirt's operator has no meaning here. */
const WITHOUT_EFFECT = [
  'certificateRotateStrategy',
  'customizeComponents',
  'imageRegistry',
  'imageTag',
  'infra',
  'workloads',
];

/** Fields that are taken and do nothing, for kubectl's warnings. */
export const kubeVirtWithoutEffect = (object: unknown): Cause[] => {
  const { data } = z.object({ spec: z.looseObject({}) }).safeParse(object);
  const ofOperator = WITHOUT_EFFECT.filter((field) => isSet(data?.spec[field])).map((field) =>
    forbidden(
      `spec.${field}`,
      'it has no effect: there is no operator, the manifests in deploy/ say how virtflow runs',
    ),
  );
  return [...ofOperator, ...expansionCauses(object)];
};

const expanding = z.object({
  spec: z.object({ configuration: z.object({ instancetype: z.object({ referencePolicy: z.string() }) }) }),
});

const expansionCauses = (object: unknown): Cause[] => {
  const { referencePolicy = 'reference' } = expanding.safeParse(object).data?.spec.configuration.instancetype ?? {};
  return when(referencePolicy !== 'reference', () =>
    forbidden(
      'spec.configuration.instancetype.referencePolicy',
      'it has no effect: VMs go on referring to instance types and preferences',
    ),
  );
};

const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined && value !== '';
