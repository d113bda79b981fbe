import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../../../api/contract/failures.ts';
import { FAILURE_REASONS, isFailureType } from '../../../api/contract/failures.ts';
import type { InstanceTypes, ReferenceField, StatusReference } from '../../../api/instancetypes/index.ts';
import {
  hasReferences,
  REFERENCES,
  revisionOf,
  statusReference,
  statusReferenceOf,
  storedRevision,
  withTypes,
} from '../../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { causesText } from '../../../api/validation/index.ts';
import { failure, toFailure } from '../../failures.ts';
import { readableVirtualMachine } from '../../facts/readable.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { Found } from '../../instance-types/find.ts';
import { findInstanceTypes, typesOf } from '../../instance-types/find.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { mergePatchOf, replacing } from '../merge-patch.ts';
import { ownerReference } from './read.ts';

/** What a VM's status says of its instance type and its preference; null: it refers to none. */
export interface StatusReferences {
  instancetypeRef: StatusReference | null;
  preferenceRef: StatusReference | null;
}

/**
 * Makes sure that the VM keeps a copy of what it refers to, as that is at first: later changes of an instance type or a preference are none of the
 * VM. No request for a VM that refers to neither. Safe to run twice.
 * @throws InstancetypeNotFound, PreferenceNotFound, InvalidSpec (they contradict the VM)
 */
const pin = async (
  kube: KubePort,
  vm: VirtualMachine,
): Promise<{ types: InstanceTypes; references: StatusReferences }> => {
  if (!hasReferences(vm)) return { types: {}, references: { instancetypeRef: null, preferenceRef: null } };
  const lookup = await findInstanceTypes(kube, vm);
  const [missing] = lookup.missing;
  if (missing !== undefined) throw failure(NOT_FOUND[missing.field], `spec.${missing.field}: ${missing.message}.`);
  const types = typesOf(lookup);
  const { causes } = withTypes(readableVirtualMachine(vm), types);
  if (causes.length > 0) throw failure('InvalidSpec', `${causesText(causes)}.`);
  const [instancetypeRef, preferenceRef] = await Promise.all(
    REFERENCES.map((field) => referenceOf(kube, vm, field, lookup[field])),
  );
  return { types, references: { instancetypeRef: instancetypeRef ?? null, preferenceRef: preferenceRef ?? null } };
};

const NOT_FOUND: Record<ReferenceField, FailureType> = {
  instancetype: 'InstancetypeNotFound',
  preference: 'PreferenceNotFound',
};

/** For a start: the copies are on record in the VM's status before anything is made of them. @returns the VM as it then is */
export const pinForStart = async (
  kube: KubePort,
  vm: VirtualMachine,
): Promise<{ vm: VirtualMachine; types: InstanceTypes }> => {
  // Nothing to refer to, and no status yet that could say otherwise.
  if (!hasReferences(vm) && vm.status === undefined) return { vm, types: {} };
  const { types, references } = await pin(kube, vm);
  const patch = mergePatchOf(vm, { status: statusOf(vm, references) });
  if (patch === undefined) return { vm, types };
  const metadata = { uid: vm.metadata?.uid };
  const name = refOf(vm);
  return {
    vm: await kube.mergePatch('VirtualMachine', name, { ...patch, metadata }, { subresource: 'status' }),
    types,
  };
};

/** What a VM's status is to say of them, and condition Failure if there is nothing to refer to. */
export interface ObservedReferences {
  /** In the form of `mergePatchOf`. */
  status: Record<string, unknown>;
  failure?: { reason: string; message: string };
}

/** For a VM's status, whether or not it starts: what it refers to is kept from then on. The VM itself then refers to the copies. */
export const observeReferences = async (
  kube: KubePort,
  vm: VirtualMachine,
): Promise<{ observed: ObservedReferences; vm: VirtualMachine }> => {
  if (vm.metadata?.deletionTimestamp !== undefined || (hasReferences(vm) && areStored(vm)))
    return { observed: { status: {} }, vm };
  try {
    const { references } = await pin(kube, vm);
    return { observed: { status: statusOf(vm, references) }, vm: withStatus(vm, references) };
  } catch (error) {
    const failed = toFailure(error, 'Instance type or preference');
    const { type, message } = failed instanceof ApplicationFailure ? failed : { type: undefined, message: '' };
    if (!isFailureType(type)) throw error;
    return { observed: { status: {}, failure: { reason: FAILURE_REASONS[type] ?? 'FailedCreate', message } }, vm };
  }
};

/** Whether the VM's status refers to a copy wherever the VM refers to something. */
const areStored = (vm: VirtualMachine): boolean =>
  REFERENCES.every((field) => {
    const matcher = vm.spec[field];
    if (matcher === undefined) return statusReferenceOf(vm, field) === undefined;
    const { revisionName = '' } = matcher;
    const stored = storedRevision(vm, field);
    return stored !== undefined && (revisionName === '' || revisionName === stored);
  });

const statusOf = (
  { status }: VirtualMachine,
  { instancetypeRef, preferenceRef }: StatusReferences,
): Record<string, unknown> => ({
  instancetypeRef: instancetypeRef === null ? null : replacing(status?.instancetypeRef, instancetypeRef),
  preferenceRef: preferenceRef === null ? null : replacing(status?.preferenceRef, preferenceRef),
});

/** The VM as it is once its status says so. */
const withStatus = (vm: VirtualMachine, { instancetypeRef, preferenceRef }: StatusReferences): VirtualMachine => ({
  ...vm,
  status: {
    ...vm.status,
    ...(instancetypeRef === null ? {} : { instancetypeRef }),
    ...(preferenceRef === null ? {} : { preferenceRef }),
  },
});

/** The VM with what it refers to in its template; undefined: that is not there, or contradicts it. */
export const expandedVirtualMachine = async (
  kube: KubePort,
  vm: VirtualMachine,
): Promise<VirtualMachine | undefined> => {
  if (!hasReferences(vm)) return vm;
  const lookup = await findInstanceTypes(kube, vm);
  return lookup.missing.length > 0 ? undefined : withTypes(vm, typesOf(lookup)).applied;
};

/** Stores the copy if there is none. */
const referenceOf = async (
  kube: KubePort,
  vm: VirtualMachine,
  field: ReferenceField,
  found: Found<ReferenceField> | undefined,
): Promise<StatusReference | undefined> => {
  const matcher = vm.spec[field];
  if (found === undefined || matcher === undefined) return undefined;
  return statusReference(matcher, found.revision ?? (await store(kube, vm, found)));
};

const store = async (
  kube: KubePort,
  vm: VirtualMachine,
  { kind, object }: Extract<Found<ReferenceField>, { revision?: undefined }>,
): Promise<string> => {
  const revision = revisionOf(vm, kind, object);
  const metadata = { ...revision.metadata, ownerReferences: [ownerReference(vm)] };
  try {
    await kube.create('ControllerRevision', { ...revision, metadata });
  } catch (error) {
    // Its name tells the very generation of the object.
    if (!isAlreadyExists(error)) throw error;
  }
  return revision.metadata.name;
};
