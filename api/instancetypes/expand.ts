import type { ClusterConfig } from '../cluster-config/index.ts';
import { completeDisks, completeNetwork, withSpecDefaults } from '../defaults/index.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause } from '../validation/cause.ts';
import { invalid } from '../validation/cause.ts';
import type { Target } from './apply-instancetype.ts';
import { applyInstancetype, conflicts } from './apply-instancetype.ts';
import { applyPreference } from './apply-preference.ts';
import { applyAutoattach } from './device-preferences.ts';
import { referenceAnnotations } from './references.ts';
import { spreadCauses } from './topology.ts';
import type { InstanceTypes } from './types.ts';

/** What came of it, or why nothing did: one cause for each field. */
export type Applied<T> = { applied: T; causes: [] } | { applied?: undefined; causes: Cause[] };

/** Templates may lack a spec that the rest of the code takes for an empty one. */
const specOf = (spec: VirtualMachineInstanceSpec | undefined): VirtualMachineInstanceSpec => {
  const copy = structuredClone(spec) ?? { domain: { devices: {} } };
  copy.domain.devices ??= {};
  return copy;
};

/**
 * Instance type, then preference, applied to a target that is changed in place.
 * @param field path of the target's spec, for causes
 */
const apply = <T extends Target>(target: T, types: InstanceTypes, field: string): Applied<T> => {
  const { instancetype, preference } = types;
  const spread = spreadCauses(types);
  if (spread.length > 0) return { causes: spread };
  if (instancetype !== undefined) {
    const found = conflicts(target, instancetype);
    const fields = [...found.spec.map((path) => `${field}.${path}`), ...found.annotations];
    const causes = fields.map((path) =>
      invalid(path, 'the instance type decides this: remove it, or choose another instance type'),
    );
    if (causes.length > 0) return { causes };
    applyInstancetype(target, instancetype, preference);
  }
  if (preference !== undefined) applyPreference(target, preference);
  return { applied: target, causes: [] };
};

const TEMPLATE = 'spec.template.spec';

/** A VM whose template says what its instance type and preference stand for; otherwise as it was. */
export const withTypes = (vm: VirtualMachine, types: InstanceTypes): Applied<VirtualMachine> => {
  const { template } = vm.spec;
  const target = { metadata: { ...template.metadata }, spec: specOf(template.spec) };
  const { applied, causes } = apply(target, types, TEMPLATE);
  return applied === undefined
    ? { causes }
    : { applied: { ...vm, spec: { ...vm.spec, template: { ...template, ...applied } } }, causes: [] };
};

/** Disks and interfaces that come by themselves are there before preferences say how disks and interfaces are. */
const withAutomaticDevices = (
  spec: VirtualMachineInstanceSpec,
  { preference }: InstanceTypes,
  config: ClusterConfig,
): void => {
  if (preference?.devices !== undefined) applyAutoattach(spec, preference.devices);
  completeDisks(spec);
  const { devices } = spec.domain;
  if (devices.autoattachInputDevice === true && (devices.inputs ?? []).length === 0)
    devices.inputs = [{ name: 'default-0', type: '' }];
  completeNetwork(spec, config);
};

/** A VM that refers to neither and would run as this one does: for the subresources `expand-spec` and `expand-vm-spec`. */
export const expanded = (vm: VirtualMachine, types: InstanceTypes, config: ClusterConfig): Applied<VirtualMachine> => {
  const spec = specOf(vm.spec.template.spec);
  withAutomaticDevices(spec, types, config);
  const { applied, causes } = withTypes(
    { ...vm, spec: { ...vm.spec, template: { ...vm.spec.template, spec } } },
    types,
  );
  if (applied === undefined) return { causes };
  const { instancetype: _i, preference: _p, ...rest } = applied.spec;
  const { instancetypeRef: _ir, preferenceRef: _pr, ...status } = applied.status ?? {};
  const template = { ...rest.template, spec: withSpecDefaults(specOf(rest.template.spec), config) };
  return {
    applied: { ...applied, spec: { ...rest, template }, ...(applied.status === undefined ? {} : { status }) },
    causes: [],
  };
};

/** The VMI that a start of the VM makes, before defaults: with what both stand for, and annotated with their names. */
export const instanceWithTypes = (
  vmi: VirtualMachineInstance,
  vm: VirtualMachine,
  types: InstanceTypes,
  config: ClusterConfig,
): Applied<VirtualMachineInstance> => {
  const spec = specOf(vmi.spec);
  withAutomaticDevices(spec, types, config);
  const metadata = { ...vmi.metadata, annotations: { ...vmi.metadata?.annotations, ...referenceAnnotations(vm.spec) } };
  return apply({ ...vmi, metadata, spec }, types, TEMPLATE);
};
