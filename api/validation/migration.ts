import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import { VMI_NAME_LABEL } from '../defaults/creation.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { forbidden, invalid, notFound, required, unsupported, when } from './cause.ts';
import type { Requester } from './requester.ts';
import { USER } from './requester.ts';

/** What else there is in the namespace of a new VMIM. */
export interface Surroundings {
  /** The VMI it names, if there is one. */
  vmi: VirtualMachineInstance | undefined;
  /** Migrations of the namespace. */
  migrations: VirtualMachineInstanceMigration[];
}

const VMI_NAME = 'spec.vmiName';
const OVER = ['Succeeded', 'Failed'];

/** Every reason to refuse a new VMIM, all at once; none: it is taken. */
export const validateMigration = (
  migration: VirtualMachineInstanceMigration,
  { vmi, migrations }: Surroundings,
  config: ClusterConfig,
  { isController }: Requester = USER,
): Cause[] => {
  const { vmiName = '', priority } = migration.spec;
  return [
    ...when(vmiName === '', () => required(VMI_NAME, 'say which VMI moves')),
    ...when(priority !== undefined && !isController, () =>
      forbidden('spec.migrationPriority', 'the controller ranks migrations: drop spec.priority'),
    ),
    ...(vmiName === '' ? [] : itsInstance(migration, vmi)),
    ...underWay(vmiName, migrations),
    ...decentralized(migration, config),
  ];
};

const itsInstance = (migration: VirtualMachineInstanceMigration, vmi: VirtualMachineInstance | undefined): Cause[] => {
  const { vmiName, sendTo, receive } = migration.spec;
  if (vmi === undefined)
    return [notFound(VMI_NAME, `there is no VMI "${vmiName}" in namespace ${migration.metadata?.namespace}`)];
  const { phase = '', conditions = [] } = vmi.status ?? {};
  const decentral = sendTo !== undefined || receive !== undefined;
  const obstacle = conditions.find(
    ({ type, status, reason }) =>
      type === 'LiveMigratable' && status === 'False' && !(decentral && reason === 'DisksNotLiveMigratable'),
  );
  return [
    ...when(OVER.includes(phase), () =>
      invalid(VMI_NAME, `VMI "${vmiName}" is over (${phase}): there is nothing to move`),
    ),
    ...when(obstacle !== undefined, () =>
      invalid(VMI_NAME, `VMI "${vmiName}" cannot move: ${obstacle?.reason}: ${obstacle?.message}`),
    ),
  ];
};

const underWay = (vmiName: string, migrations: VirtualMachineInstanceMigration[]): Cause[] => {
  const other = migrations.find(
    ({ metadata, status }) => metadata?.labels?.[VMI_NAME_LABEL] === vmiName && !OVER.includes(status?.phase ?? ''),
  );
  return when(vmiName !== '' && other !== undefined, () =>
    invalid(VMI_NAME, `migration "${other?.metadata?.name}" moves VMI "${vmiName}" already: wait for it, or delete it`),
  );
};

const decentralized = ({ spec }: VirtualMachineInstanceMigration, config: ClusterConfig): Cause[] => {
  const { sendTo, receive } = spec;
  const field = sendTo === undefined ? 'spec.receive' : 'spec.sendTo';
  if (sendTo === undefined && receive === undefined) return [];
  if (!hasGate(config, 'DecentralizedLiveMigration'))
    return [unsupported(field, 'it needs the feature gate DecentralizedLiveMigration')];
  if (sendTo === undefined || receive === undefined) return [];
  const [sent, received] = [sendTo, receive].map(({ migrationID }: { migrationID?: string }) => migrationID ?? '');
  return when(sent !== received, () =>
    invalid('spec.receive.migrationID', `it is "${received}", that of sendTo "${sent}": they are one migration`),
  );
};

/** Every reason to refuse a change of a VMIM: its spec stands, and while it is under way so does the label that finds it. */
export const validateMigrationUpdate = (
  migration: VirtualMachineInstanceMigration,
  old: VirtualMachineInstanceMigration,
): Cause[] => {
  const [label, oldLabel] = [migration, old].map(({ metadata }) => metadata?.labels?.[VMI_NAME_LABEL]);
  const isOver = OVER.includes(migration.status?.phase ?? '');
  return [
    ...when(JSON.stringify(migration.spec) !== JSON.stringify(old.spec), () =>
      unsupported('spec', 'a migration stays as it was made: delete it, and create another one'),
    ),
    ...when(!isOver && oldLabel !== undefined && label !== oldLabel, () =>
      unsupported('metadata.labels', `${VMI_NAME_LABEL} stays until the migration is over`),
    ),
  ];
};
