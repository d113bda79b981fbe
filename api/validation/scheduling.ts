import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, when } from './cause.ts';
import { isLabel, isLabelKey, isLabelValue, isSubdomain } from './formats.ts';

type Affinity = NonNullable<VirtualMachineInstanceSpec['affinity']>;
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;
type PodAffinity = NonNullable<Affinity['podAffinity']>;
type PodTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];
type NodeTerm = NonNullable<
  NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeTerm['matchExpressions']>[number];
type Selector = NonNullable<PodTerm['labelSelector']>;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const SPREAD = 'spec.topologySpreadConstraints';
const ONLY_FIELD = 'metadata.name';

/** Where the launcher Pod may run: Kubernetes' own rules, so that a VMI is refused before its Pod would be. */
export const schedulingRules: Rule = ({ spec }) => {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return [
    ...(nodeAffinity === undefined ? [] : nodes(nodeAffinity)),
    ...pods(podAffinity, 'spec.podAffinity'),
    ...pods(podAntiAffinity, 'spec.podAntiAffinity'),
    ...spread(spec.topologySpreadConstraints ?? []),
  ];
};

const nodes = (affinity: NodeAffinity): Cause[] => {
  const field = `spec.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  const terms = affinity[REQUIRED]?.nodeSelectorTerms;
  return [
    ...when(affinity[REQUIRED] !== undefined && (terms ?? []).length === 0, () =>
      invalid(field, 'it selects no node: add a term, or drop it'),
    ),
    ...(terms ?? []).flatMap((term, index) => nodeTerm(term, `${field}[${index}]`)),
    ...(affinity[PREFERRED] ?? []).flatMap(({ weight, preference }, index) => {
      const at = `spec.nodeAffinity.${PREFERRED}[${index}]`;
      return [...weights(weight, `${at}.weight`), ...nodeTerm(preference, `${at}.preference`)];
    }),
  ];
};

const weights = (weight: number, field: string): Cause[] =>
  when(!(weight >= 1 && weight <= 100), () => invalid(field, `${weight} is no weight: use 1 to 100`));

const nodeTerm = ({ matchExpressions = [], matchFields = [] }: NodeTerm, field: string): Cause[] => [
  ...matchExpressions.flatMap((requirement, index) =>
    nodeRequirement(requirement, `${field}.matchExpressions[${index}]`),
  ),
  ...matchFields.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${field}.matchFields[${index}]`;
    const known = ['In', 'NotIn'].includes(operator);
    return [
      ...when(!known, () => invalid(`${at}.operator`, `"${operator}" is unknown here: use In or NotIn`)),
      ...when(known && values.length !== 1, () => invalid(`${at}.values`, 'name exactly one node')),
      ...when(key !== ONLY_FIELD, () => invalid(`${at}.key`, `"${key}" cannot be selected: use ${ONLY_FIELD}`)),
      ...values.flatMap((value, position) =>
        when(key === ONLY_FIELD && !isSubdomain(value), () =>
          invalid(`${at}.values[${position}]`, `"${value}" is no name of a node`),
        ),
      ),
    ];
  }),
];

/** How many values each operator takes. */
const OPERATORS: Record<string, { takes: string; fits: (count: number) => boolean }> = {
  In: { takes: 'values', fits: (count) => count > 0 },
  NotIn: { takes: 'values', fits: (count) => count > 0 },
  Exists: { takes: 'no values', fits: (count) => count === 0 },
  DoesNotExist: { takes: 'no values', fits: (count) => count === 0 },
  Gt: { takes: 'one value', fits: (count) => count === 1 },
  Lt: { takes: 'one value', fits: (count) => count === 1 },
};

const nodeRequirement = ({ key, operator, values = [] }: Requirement, field: string): Cause[] => {
  const known = OPERATORS[operator];
  return [
    ...when(known === undefined, () =>
      invalid(`${field}.operator`, `"${operator}" is unknown: use ${Object.keys(OPERATORS).join(', ')}`),
    ),
    ...when(known?.fits(values.length) === false, () =>
      invalid(`${field}.values`, `${operator} takes ${known?.takes}`),
    ),
    ...labelKey(key, `${field}.key`),
  ];
};

const labelKey = (key: string, field: string): Cause[] =>
  when(!isLabelKey(key), () => invalid(field, `"${key}" is no key of a label`));

const pods = (affinity: PodAffinity | undefined, field: string): Cause[] => [
  ...(affinity?.[REQUIRED] ?? []).flatMap((term, index) => podTerm(term, `${field}.${REQUIRED}[${index}]`)),
  ...(affinity?.[PREFERRED] ?? []).flatMap(({ weight, podAffinityTerm }, index) => {
    const at = `${field}.${PREFERRED}[${index}]`;
    return [...weights(weight, `${at}.weight`), ...podTerm(podAffinityTerm, `${at}.podAffinityTerm`)];
  }),
];

const podTerm = (term: PodTerm, field: string): Cause[] => [
  ...selectorCauses(term.labelSelector, `${field}.labelSelector`),
  ...selectorCauses(term.namespaceSelector, `${field}.namespaceSelector`),
  ...(term.namespaces ?? []).flatMap((name) =>
    when(!isLabel(name), () => invalid(`${field}.namespace`, `"${name}" is no namespace`)),
  ),
  ...labelKey(term.topologyKey, `${field}.topologyKey`),
];

/** What is wrong with a label selector at this field. */
export const selectorCauses = ({ matchLabels = {}, matchExpressions = [] }: Selector = {}, field: string): Cause[] => [
  ...Object.entries(matchLabels).flatMap(([key, value]) => [
    ...labelKey(key, `${field}.matchLabels`),
    ...when(!isLabelValue(value), () => invalid(`${field}.matchLabels`, `"${value}" is no value of a label`)),
  ]),
  ...matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const [listed, bare] = [['In', 'NotIn'].includes(operator), ['Exists', 'DoesNotExist'].includes(operator)];
    return [
      ...when(!listed && !bare, () =>
        invalid(`${at}.operator`, `"${operator}" is unknown: use In, NotIn, Exists or DoesNotExist`),
      ),
      ...when(listed && values.length === 0, () => invalid(`${at}.values`, `${operator} needs values`)),
      ...when(bare && values.length > 0, () => invalid(`${at}.values`, `${operator} takes no values`)),
      ...labelKey(key, `${at}.key`),
      ...values.flatMap((value, position) =>
        when(!isLabelValue(value), () => invalid(`${at}.values[${position}]`, `"${value}" is no value of a label`)),
      ),
    ];
  }),
];

const spread = (constraints: NonNullable<VirtualMachineInstanceSpec['topologySpreadConstraints']>): Cause[] =>
  constraints.flatMap(({ labelSelector, maxSkew, topologyKey, whenUnsatisfiable }, index) => {
    const field = `${SPREAD}[${index}]`;
    const again = constraints
      .slice(index + 1)
      .some((later) => later.topologyKey === topologyKey && later.whenUnsatisfiable === whenUnsatisfiable);
    return [
      ...when(!(maxSkew > 0), () => invalid(`${field}.maxSkew`, `${maxSkew} is no skew: at least 1`)),
      ...labelKey(topologyKey, `${field}.topologyKey`),
      ...when(!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable), () =>
        invalid(`${field}.whenUnsatisfiable`, `"${whenUnsatisfiable}" is unknown: use DoNotSchedule or ScheduleAnyway`),
      ),
      ...selectorCauses(labelSelector, `${SPREAD}.labelSelector`),
      ...when(again, () =>
        invalid(
          `${field}.{topologyKey, whenUnsatisfiable}`,
          'a later constraint has the same key and action: keep one',
        ),
      ),
    ];
  });
