import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import {
  newInstance,
  newMigration,
  newVirtualMachine,
  withSpecDefaults,
  type Fresh,
} from '../../../api/defaults/index.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import {
  readNewInstance,
  readNewMigration,
  readNewVirtualMachine,
  requesterOf,
  validateInstance,
  validateMigration,
  validateVirtualMachine,
  type Cause,
} from '../../../api/validation/index.ts';
import { inTemplate } from '../../../api/validation/cause.ts';
import { guestNameCauses, workableRules } from '../../../api/validation/workable.ts';
import { configurationOf, type Departures } from '../configuration.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Difference, type Rule, type Verdict } from '../verdict.ts';

/** What both sides say to a create request. */
export interface Answer {
  allowed: boolean;
  code?: number;
  message?: string;
  causes?: { type: string; field: string }[];
  /** The code crashed instead of answering. */
  panic?: string;
}

/** A case of the sets admission-*. */
export interface AdmissionCase extends Departures {
  id: string;
  kind: 'vm' | 'vmi' | 'vmim';
  input: unknown;
  user?: string;
  /** What is there already; migrations only. */
  cluster?: { vmis: VirtualMachineInstance[]; migrations: VirtualMachineInstanceMigration[] };
  result: Answer;
}

/** KubeVirt tells no more. */
const MAX_CAUSES = 10;
const INVALID = 422;

/** A cause as a path of a difference. */
const pathOf = ({ type, field }: { type: string; field: string }): string => `cause ${type} ${field}`;

const theirs = ({ result }: AdmissionCase): string[] =>
  (result.causes ?? []).map(({ type, field }) => `${type} ${field}`);

/** KubeVirt's own check of the shape, or of decoding into its types. */
const isAboutShape = ({ kind, result }: AdmissionCase): boolean =>
  (result.causes ?? []).some(({ type }) => type === '') || (result.code === 400 && kind !== 'vmim');

const READERS = { vm: readNewVirtualMachine, vmi: readNewInstance, vmim: readNewMigration };
/** What of the shape keeps our rules from looking at the object. */
const shapeCauses = ({ kind, input }: AdmissionCase): Cause[] => READERS[kind](input).causes;
const isIncomplete = (given: AdmissionCase): boolean => {
  const causes = shapeCauses(given);
  return causes.length > 0 && causes.every(({ type }) => type === 'FieldValueRequired');
};

/** KubeVirt's plain errors about other objects. */
const isAboutState = ({ kind, result }: AdmissionCase): boolean => kind === 'vmim' && result.code === 400;

/** `a.b` of a field that KubeVirt writes twice: `a.b.domain.b[0]`. */
const DOUBLED = /\.domain\.devices\.disks\.domain\.devices\.disks|\.hyperv\.domain\.features\.hyperv/;
const undoubled = (path: string): string =>
  path
    .replace(/devices\.disks\.domain\.devices\.disks(\.disk)?/, 'devices.disks')
    .replace(/(disks\[\d+\])\.pciAddress/, '$1.disk.pciAddress')
    .replace('hyperv.domain.features.hyperv', 'hyperv');

/** KubeVirt judges VMs in steps and tells the causes of the first that fails: instance types and gone bindings come first, … */
const isEarly = ({ field }: { field: string }): boolean => /^spec\.(instancetype|preference|domain)\b/.test(field);
/** … namespaces of DataVolumes and requests for volumes last. */
const isLate = (path: string, { causes = [] }: Answer): boolean =>
  causes.length > 0 && /^cause \w+ (spec\.dataVolumeTemplates\[|Status\.volumeRequests)/.test(path);

/** Causes of what KubeVirt takes and what then fails, as they are among ours. */
const laterFailures = (testCase: AdmissionCase): string[] => {
  const { kind, input } = testCase;
  const config = configurationOf(testCase);
  const { object: vmi } = kind === 'vmi' ? readNewInstance(input) : {};
  const { object: vm } = kind === 'vm' ? readNewVirtualMachine(input) : {};
  const spec = vmi?.spec ?? vm?.spec.template.spec;
  if (spec === undefined) return [];
  const causes = workableRules({ spec: withSpecDefaults(spec, config) }, config);
  const named = guestNameCauses((vmi ?? vm)?.metadata ?? {});
  return [...named, ...(kind === 'vm' ? inTemplate(causes) : causes)].map(pathOf);
};

export const ADMISSION_RULES: Rule<AdmissionCase>[] = [
  {
    id: 'shape-names-the-field',
    covers: ({ path }, given) =>
      path === 'allowed' ? isIncomplete(given) : isAboutShape(given) || shapeCauses(given).length > 0,
  },
  {
    id: 'state-of-others-names-the-field',
    covers: ({ path }, given) => isAboutState(given) && path !== 'allowed',
  },
  {
    id: 'every-cause-has-a-field',
    covers: ({ path }, { result }) =>
      /^cause \w+ $/.test(path) ||
      (result.causes ?? []).some(({ type, field }) => field === '' && path.startsWith(`cause ${type} spec.`)),
  },
  {
    id: 'fields-are-paths',
    covers: ({ path, ours }, given) =>
      DOUBLED.test(path) ||
      (ours !== undefined &&
        theirs(given).some((cause) => DOUBLED.test(cause) && path === `cause ${undoubled(cause)}`)),
  },
  {
    id: 'answers-instead-of-crashing',
    covers: (_, { result }) => result.panic !== undefined,
  },
  {
    id: 'refused-before-it-fails',
    covers: ({ path, ours }, given) => {
      const causes = laterFailures(given);
      if (path.startsWith('cause ')) return ours !== undefined && causes.includes(path);
      return (
        given.result.allowed && (answerTo(given).causes ?? []).map(pathOf).every((cause) => causes.includes(cause))
      );
    },
  },
  {
    id: 'all-causes-at-once',
    covers: ({ path, theirs: told }, { kind, result }) =>
      path.startsWith('cause ') &&
      told === undefined &&
      (result.causes?.length === MAX_CAUSES ||
        (kind === 'vm' && (result.causes ?? []).some(isEarly)) ||
        isLate(path, result)),
  },
];

const CLOCK: Fresh = { uuid: () => '<uuid>', now: '<timestamp>' };

/** What virtflow says. */
export function answerTo(testCase: AdmissionCase): Answer {
  const causes = JUDGES[testCase.kind](testCase, configurationOf(testCase));
  return causes.length === 0 ? { allowed: true } : { allowed: false, code: INVALID, causes };
}

const JUDGES: Record<AdmissionCase['kind'], (testCase: AdmissionCase, config: ClusterConfig) => Cause[]> = {
  vmi: ({ input, user = '' }, config) => {
    const { object, causes } = readNewInstance(input);
    if (object === undefined) return causes;
    return validateInstance(newInstance(object, config, CLOCK), config, requesterOf(user, ['kubevirt']));
  },
  vm: ({ input, user = '' }, config) => {
    const { object, causes } = readNewVirtualMachine(input);
    if (object === undefined) return causes;
    return validateVirtualMachine(newVirtualMachine(object, config, CLOCK), config, requesterOf(user, ['kubevirt']));
  },
  vmim: ({ input, user = '', cluster }, config) => {
    const { object, causes } = readNewMigration(input);
    if (object === undefined) return causes;
    const { vmis = [], migrations = [] } = cluster ?? {};
    const { namespace } = object.metadata ?? {};
    const here = ({ metadata }: { metadata?: { namespace?: string } }): boolean => metadata?.namespace === namespace;
    const vmi = vmis.filter(here).find(({ metadata }) => metadata?.name === object.spec.vmiName);
    const others = migrations.filter(here);
    return validateMigration(
      newMigration(object),
      { vmi, migrations: others },
      config,
      requesterOf(user, ['kubevirt']),
    );
  },
};

export function compareAnswers(ours: Answer, other: Answer): Difference[] {
  const flat = ({ allowed, code, causes = [] }: Answer): Map<string, string> =>
    new Map([
      ['allowed', String(allowed)],
      ...(code === undefined ? [] : [['code', String(code)] as const]),
      ...causes.map((cause) => [pathOf(cause), 'told'] as const),
    ]);
  const [our, their] = [flat(ours), flat(other)];
  return [...new Set([...our.keys(), ...their.keys()])]
    .map((path) => ({ path, ours: our.get(path), theirs: their.get(path) }))
    .filter((difference) => difference.ours !== difference.theirs);
}

export function compareAdmission(testCase: AdmissionCase): Verdict {
  return judge(compareAnswers(answerTo(testCase), testCase.result), testCase, ADMISSION_RULES);
}

const admissionSet = (kind: AdmissionCase['kind']): OracleSet => ({
  name: `admission-${kind}`,
  file: `admission-${kind}.json`,
  ruleIds: ADMISSION_RULES.map(({ id }) => id),
  judge: (testCase) => compareAdmission(testCase as AdmissionCase),
});

export const admissionVm = admissionSet('vm');
export const admissionVmi = admissionSet('vmi');
export const admissionVmim = admissionSet('vmim');
