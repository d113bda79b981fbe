import type { VirtualMachine, VirtualMachineSpec } from '../kubevirt/types.ts';

/** The API group and version of instance types and preferences that virtflow serves. */
export const INSTANCETYPE_API_VERSION = 'instancetype.kubevirt.io/v1beta1';

/** The fields of a VM that refer to them. */
export const REFERENCES = ['instancetype', 'preference'] as const;
export type ReferenceField = (typeof REFERENCES)[number];

export type Matcher = NonNullable<VirtualMachineSpec['instancetype']>;
type Status = NonNullable<VirtualMachine['status']>;
export type StatusReference = NonNullable<Status['instancetypeRef']>;

/** Kinds that a reference may name, that of the cluster first: it is meant where none is named. */
const KINDS = {
  instancetype: ['VirtualMachineClusterInstancetype', 'VirtualMachineInstancetype'],
  preference: ['VirtualMachineClusterPreference', 'VirtualMachinePreference'],
} as const;

export type ReferencedKind<F extends ReferenceField = ReferenceField> = (typeof KINDS)[F][number];

/** The kind that a reference is to, by its name or that of its resource, in any spelling of letters; undefined: there is no such kind. */
export const kindOf = <F extends ReferenceField>(
  field: F,
  { kind: word }: Pick<Matcher, 'kind'>,
): ReferencedKind<F> | undefined => {
  const kinds: readonly ReferencedKind<F>[] = KINDS[field];
  const named = (word ?? '').toLowerCase();
  return named === '' ? kinds[0] : kinds.find((kind) => [kind, `${kind}s`].some((it) => it.toLowerCase() === named));
};

/** Objects of the kind belong to the cluster, not to a namespace. */
export const isClusterWide = (kind: ReferencedKind): boolean => kind.includes('Cluster');

/** Whether the VM refers to an instance type or a preference. */
export const hasReferences = ({ spec }: Pick<VirtualMachine, 'spec'>): boolean =>
  REFERENCES.some((field) => spec[field] !== undefined);

/** What the VM's status says of a reference. */
export const statusReferenceOf = (
  { status }: Pick<VirtualMachine, 'status'>,
  field: ReferenceField,
): StatusReference | undefined => status?.[`${field}Ref`];

/** The revision that the VM itself names, as older clients write it; it counts before any other. */
export const namedRevision = ({ revisionName = '' }: Matcher): string | undefined =>
  revisionName === '' ? undefined : revisionName;

/**
 * The revision that was stored for this very reference; undefined: it has been changed since, or nothing has been stored so far. The status repeats
 * the reference for that.
 */
export const storedRevision = (
  vm: Pick<VirtualMachine, 'spec' | 'status'>,
  field: ReferenceField,
): string | undefined => {
  const [matcher, stored] = [vm.spec[field], statusReferenceOf(vm, field)];
  if (matcher === undefined || stored === undefined) return undefined;
  const isSame =
    (matcher.name ?? '') === (stored.name ?? '') &&
    kindOf(field, matcher) === kindOf(field, stored) &&
    (matcher.inferFromVolume ?? '') === (stored.inferFromVolume ?? '');
  const { name = '' } = stored.controllerRevisionRef ?? {};
  return isSame && name !== '' ? name : undefined;
};

/** What the status says of a reference whose content is kept in a revision. */
export const statusReference = (
  { name, kind, inferFromVolume, inferFromVolumeFailurePolicy }: Matcher,
  revision: string,
): StatusReference => ({
  ...(name === undefined ? {} : { name }),
  ...(kind === undefined ? {} : { kind }),
  ...(inferFromVolume === undefined ? {} : { inferFromVolume }),
  ...(inferFromVolumeFailurePolicy === undefined ? {} : { inferFromVolumeFailurePolicy }),
  controllerRevisionRef: { name: revision },
});

/** Which of the four annotations names the object on a VMI. */
const ANNOTATIONS: Record<ReferencedKind, string> = {
  VirtualMachineClusterInstancetype: 'kubevirt.io/cluster-instancetype-name',
  VirtualMachineInstancetype: 'kubevirt.io/instancetype-name',
  VirtualMachineClusterPreference: 'kubevirt.io/cluster-preference-name',
  VirtualMachinePreference: 'kubevirt.io/preference-name',
};

/** Annotations of a VMI that name what its VM refers to. */
export const referenceAnnotations = (spec: VirtualMachineSpec): Record<string, string> =>
  Object.fromEntries(
    REFERENCES.flatMap((field) => {
      const matcher = spec[field];
      const kind = matcher === undefined ? undefined : kindOf(field, matcher);
      return kind === undefined ? [] : [[ANNOTATIONS[kind], matcher?.name ?? ''] as const];
    }),
  );
