import type { ClusterConfig } from '../cluster-config/index.ts';
import { MIGRATION_FINALIZER, VMI_FINALIZER } from '../kubevirt/finalizers.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceMigration } from '../kubevirt/types.ts';
import { completeMachine, pciTopology, withDefaults } from './complete.ts';

/** Label of a VMIM that names its VMI, for lists. */
export const VMI_NAME_LABEL = 'kubevirt.io/vmi-name';

/** What a new object gets that does not follow from it. */
export interface Fresh {
  uuid: () => string;
  /** RFC 3339. */
  now: string;
}

/** A VMI as it is stored when a user creates it: complete, with its finalizer, pending. */
export const newInstance = (
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  { uuid, now }: Fresh,
): VirtualMachineInstance => {
  const complete = withDefaults(vmi, config);
  const { metadata, spec, status } = complete;
  const since = { phase: 'Pending', phaseTransitionTimestamp: now };
  return {
    ...complete,
    metadata: { ...metadata, finalizers: [...new Set([...(metadata?.finalizers ?? []), VMI_FINALIZER])] },
    spec: { ...spec, domain: { ...spec.domain, firmware: { uuid: uuid(), ...spec.domain.firmware } } },
    status: {
      ...status,
      phase: since.phase,
      phaseTransitionTimestamps: [...(status?.phaseTransitionTimestamps ?? []), since],
    },
  };
};

/** A VM as it is stored when a user creates it: what a start must not choose anew is settled. */
export const newVirtualMachine = (vm: VirtualMachine, config: ClusterConfig, { uuid }: Fresh): VirtualMachine => {
  const complete = structuredClone(vm);
  const { template } = complete.spec;
  const spec = (template.spec ??= { domain: { devices: {} } });
  const firmware = (spec.domain.firmware ??= {});
  firmware.uuid ||= uuid();
  firmware.serial ||= uuid();
  spec.architecture ||= config.defaultArchitecture;
  completeMachine(spec, config);
  template.metadata = { ...template.metadata, ...pciTopology(spec, template.metadata?.annotations) };
  return complete;
};

/** Longest value of a label. */
const LABEL_MAX = 63;

/**
 * A VMIM as it is stored when a user creates it: found by its VMI, kept until its migration is over. A name that is too long for a label stands there
 * shortened as soon as the migration is taken up.
 */
export const newMigration = (migration: VirtualMachineInstanceMigration): VirtualMachineInstanceMigration => {
  const { labels, finalizers = [] } = migration.metadata ?? {};
  const { vmiName = '' } = migration.spec;
  return {
    ...migration,
    metadata: {
      ...migration.metadata,
      labels: { ...labels, ...(vmiName.length > LABEL_MAX ? {} : { [VMI_NAME_LABEL]: vmiName }) },
      finalizers: [...new Set([...finalizers, MIGRATION_FINALIZER])],
    },
  };
};
