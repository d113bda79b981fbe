import type { VirtualMachineInstanceSpec, VirtualMachineSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { oneOf, unsupported } from './cause.ts';

const PULL_POLICIES = ['', 'Always', 'IfNotPresent', 'Never'];
const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Filesystem', 'Block', 'FromStorageProfile'];

/** A value that is chosen from a list, and where it is. */
type Choice = [field: string, value: string | undefined, known: string[]];

const judged = (choices: Choice[]): Cause[] =>
  choices.flatMap(([field, value, known]) => oneOf(field, value, known, unsupported));

/** Values that the API chooses from lists and that concern no other rule. */
export const choiceRules: Rule = ({ spec }) => judged([...scheduling(spec), ...probes(spec), ...images(spec)]);

const scheduling = ({ tolerations = [], topologySpreadConstraints = [] }: VirtualMachineInstanceSpec): Choice[] => [
  ...tolerations.flatMap(({ operator, effect }, index): Choice[] => [
    [`spec.tolerations[${index}].operator`, operator, ['', 'Exists', 'Equal']],
    [`spec.tolerations[${index}].effect`, effect, ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']],
  ]),
  ...topologySpreadConstraints.flatMap(({ nodeAffinityPolicy, nodeTaintsPolicy }, index): Choice[] => [
    [`spec.topologySpreadConstraints[${index}].nodeAffinityPolicy`, nodeAffinityPolicy, ['Honor', 'Ignore']],
    [`spec.topologySpreadConstraints[${index}].nodeTaintsPolicy`, nodeTaintsPolicy, ['Honor', 'Ignore']],
  ]),
];

const probes = (spec: VirtualMachineInstanceSpec): Choice[] =>
  (['readinessProbe', 'livenessProbe'] as const).map((key) => [
    `spec.${key}.httpGet.scheme`,
    spec[key]?.httpGet?.scheme,
    ['', 'HTTP', 'HTTPS'],
  ]);

const images = ({ domain, volumes = [] }: VirtualMachineInstanceSpec): Choice[] => [
  [
    'spec.domain.firmware.kernelBoot.container.imagePullPolicy',
    domain.firmware?.kernelBoot?.container?.imagePullPolicy,
    PULL_POLICIES,
  ],
  ...volumes.map(({ containerDisk }, index): Choice => [
    `spec.volumes[${index}].containerDisk.imagePullPolicy`,
    containerDisk?.imagePullPolicy,
    PULL_POLICIES,
  ]),
];

/** The same of the DataVolumes that a VM makes. */
export const dataVolumeChoices = ({ dataVolumeTemplates = [] }: VirtualMachineSpec): Cause[] =>
  judged(
    dataVolumeTemplates.flatMap(({ spec }, index) =>
      (['pvc', 'storage'] as const).flatMap((key): Choice[] => {
        const field = `spec.dataVolumeTemplates[${index}].spec.${key}`;
        const { accessModes = [], volumeMode } = spec[key] ?? {};
        return [
          ...accessModes.map((mode, at): Choice => [`${field}.accessModes[${at}]`, mode, ACCESS_MODES]),
          [`${field}.volumeMode`, volumeMode, VOLUME_MODES],
        ];
      }),
    ),
  );
