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

/** One reason why an object cannot work: which field, and what to do about it. */
export interface Cause {
  type: CauseType;
  field: string;
  message: string;
}

/** A rule looks at a VMI that is complete with defaults and returns every cause that it finds. */
export type Rule = (vmi: VirtualMachineInstance, config: ClusterConfig) => Cause[];

const cause =
  (type: CauseType) =>
  (field: string, message: string): Cause => ({ type, field, message });

export const invalid = cause('FieldValueInvalid');
export const required = cause('FieldValueRequired');
export const duplicate = cause('FieldValueDuplicate');
export const notFound = cause('FieldValueNotFound');
export const unsupported = cause('FieldValueNotSupported');

/** The cause if the condition holds, for lists of causes. */
export const when = (condition: boolean, found: () => Cause): Cause[] => (condition ? [found()] : []);

/** Indices of items whose name an earlier item has. */
export const repeated = (items: readonly { name: string }[]): number[] =>
  items.flatMap(({ name }, index) => (items.findIndex((item) => item.name === name) < index ? [index] : []));

/** A lower-case RFC 1123 label, such as Kubernetes demands of names of volumes and containers. */
export const isLabel = (name: string): boolean => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);
