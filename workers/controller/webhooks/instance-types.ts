import { findInstanceTypes, typesOf } from '../../../activities/instance-types/find.ts';
import { inferReferences } from '../../../activities/instance-types/infer.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { withSpecDefaults } from '../../../api/defaults/index.ts';
import {
  hasReferences,
  instancetypeCauses,
  instancetypeWarnings,
  preferAtCreation,
  preferenceCauses,
  preferenceWarnings,
  requirementCauses,
  withTypes,
} from '../../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { Cause } from '../../../api/validation/index.ts';
import { matcherCauses, readNewInstancetype, readNewPreference } from '../../../api/validation/index.ts';
import type { AdmissionPorts } from './ports.ts';
import type { Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';
import { warningsFor } from './warnings.ts';

/** Refuses an instance type that no VM can have. */
export const validateInstancetypeRequest = (): Judge =>
  judging(readNewInstancetype, instancetypeCauses, instancetypeWarnings);

/** Refuses a preference that cannot be followed. */
export const validatePreferenceRequest = (): Judge => judging(readNewPreference, preferenceCauses, preferenceWarnings);

const judging =
  <Spec>(
    read: (object: unknown) => { object?: { spec: Spec } | undefined; causes: Cause[] },
    against: (spec: Spec) => Cause[],
    about: (spec: Spec) => Cause[],
  ): Judge =>
  (request) => {
    if (request.object == null) return ALLOWED;
    const { object, causes } = read(request.object);
    if (object === undefined) return refusedFor(request, causes);
    const found = against(object.spec);
    if (found.length > 0) return refusedFor(request, found);
    return { allowed: true, warnings: warningsFor(about(object.spec)) };
  };

type Reader = Pick<AdmissionPorts['kube'], 'get'>;

/**
 * What a VM's instance type and preference decide when it is stored: which they are, if a volume is to tell, and what cannot wait until a start. A VM
 * that refers to neither is left as it is, and so is one whose references are refused later on.
 */
export const settleReferences = async (
  kube: Reader,
  vm: VirtualMachine,
): Promise<{ vm: VirtualMachine; causes: [] } | { vm?: undefined; causes: Cause[] }> => {
  if (!hasReferences(vm) || matcherCauses(vm.spec).length > 0) return { vm, causes: [] };
  const inferred = await inferReferences(kube, vm);
  if (inferred.problem !== undefined) {
    const { field, message } = inferred.problem;
    return { causes: [{ type: 'FieldValueInvalid', field: `spec.${field}.inferFromVolume`, message }] };
  }
  const { preference } = await findInstanceTypes(kube, inferred.vm);
  return { vm: preference === undefined ? inferred.vm : preferAtCreation(inferred.vm, preference.spec), causes: [] };
};

/** A VM as rules look at it. */
export interface WithReferences {
  /** With what it refers to in its template, as far as that is there. */
  vm: VirtualMachine;
  /** Why it cannot have what it refers to. */
  causes: Cause[];
  /** References that lead nowhere: the VM is taken, and starts once they lead somewhere. */
  missing: Cause[];
}

/** What a VM's references mean for the rules that it has to keep. */
export const followReferences = async (
  kube: Reader,
  vm: VirtualMachine,
  config: ClusterConfig,
): Promise<WithReferences> => {
  if (!hasReferences(vm)) return { vm, causes: [], missing: [] };
  const lookup = await findInstanceTypes(kube, vm);
  const types = typesOf(lookup);
  const missing = lookup.missing.map(({ field, message }): Cause => ({
    type: 'FieldValueNotFound',
    field: `spec.${field}`,
    message,
  }));
  const { applied, causes } = withTypes(vm, types);
  if (applied === undefined) return { vm, causes, missing };
  const spec = withSpecDefaults(applied.spec.template.spec ?? { domain: { devices: {} } }, config);
  return { vm: applied, causes: requirementCauses(types, spec), missing };
};
