import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';

/** Kubernetes' cause types, as admission answers carry them. */
export type CauseType =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound';

/** One reason why an object is refused: which field, and what to do about it. */
export interface Cause {
  type: CauseType;
  field: string;
  message: string;
}

/**
 * A rule looks at a VMI and returns every cause that it finds. Fields are those of a VMI: `inTemplate` makes them those of a VM. A field is
 * called as KubeVirt calls it, also where that is no path of the object, so that clients which look for a field find it.
 */
export type Rule = (vmi: VirtualMachineInstance, config: ClusterConfig) => Cause[];

const cause =
  (type: CauseType) =>
  (field: string, message: string): Cause => ({ type, field, message });

export const invalid = cause('FieldValueInvalid');
export const required = cause('FieldValueRequired');
export const duplicate = cause('FieldValueDuplicate');
export const notFound = cause('FieldValueNotFound');
export const unsupported = cause('FieldValueNotSupported');
export const forbidden = cause('FieldValueForbidden');

/** The cause if the condition holds, for lists of causes. */
export const when = (condition: boolean, found: () => Cause): Cause[] => (condition ? [found()] : []);

/** A cause if the value is set and none of the known ones. */
export const oneOf = (
  field: string,
  value: string | undefined,
  known: readonly string[],
  refuse: typeof invalid = invalid,
): Cause[] =>
  when(value !== undefined && !known.includes(value), () =>
    refuse(field, `"${value}" is unknown: use ${known.filter(Boolean).join(', ')}`),
  );

/** A cause if the gate is not in force; `what`: what needs it, if the field does not say so. */
export const needsGate = (field: string, gate: string, { featureGates }: ClusterConfig, what = 'it'): Cause[] =>
  when(!featureGates.includes(gate), () =>
    invalid(
      field,
      `${what} needs the feature gate ${gate}: add it to spec.configuration.developerConfiguration.featureGates of the KubeVirt object`,
    ),
  );

/** The causes of a VMI's fields as those of a VM's template. */
export const inTemplate = (causes: Cause[]): Cause[] =>
  causes.map((found) => ({ ...found, field: found.field.replace(/^(spec|metadata)\b/, 'spec.template.$1') }));

/** Indices of items whose name an earlier item has. */
export const repeated = (items: readonly { name: string }[]): number[] =>
  items.flatMap(({ name }, index) => (items.findIndex((item) => item.name === name) < index ? [index] : []));
