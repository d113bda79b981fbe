import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import { memoryHotplugObstacle, withSpecDefaults } from '../defaults/index.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineSpec } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { inTemplate, invalid, oneOf, when } from './cause.ts';
import { dataVolumeChoices } from './choices.ts';
import { dataVolumeTemplateCauses, namespaceCauses } from './data-volume-templates.ts';
import { causesOf, SPEC_RULES } from './instance.ts';
import { goneBindings } from './interfaces.ts';
import { matcherCauses, matcherUpdateCauses } from './matchers.ts';
import { metadataCauses } from './metadata.ts';
import type { Requester } from './requester.ts';
import { USER } from './requester.ts';
import { volumeRequestCauses } from './volume-requests.ts';
import { guestNameCauses } from './workable.ts';

const RUN_STRATEGIES = ['Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once'];

/** Every reason to refuse a new VM, or a change of one, all at once; none: it is taken. A VM that is being deleted is never refused. */
export const validateVirtualMachine = (
  vm: VirtualMachine,
  config: ClusterConfig,
  requester: Requester = USER,
  old?: VirtualMachine,
): Cause[] => {
  if (vm.metadata?.deletionTimestamp !== undefined) return [];
  const template = templateOf(vm, config);
  return [
    ...guestNameCauses(vm.metadata ?? {}),
    ...matcherCauses(vm.spec),
    ...runStrategy(vm.spec, config),
    ...inTemplate(metadataCauses(template.metadata ?? {}, config, requester)),
    ...inTemplate(causesOf(SPEC_RULES, template, config)),
    ...liveUpdate(template, config),
    ...dataVolumeTemplateCauses(vm.spec),
    ...dataVolumeChoices(vm.spec),
    ...namespaceCauses(vm, old),
    ...volumeRequestCauses(vm, config),
    ...(old === undefined ? goneBindings(template, config) : updateCauses(vm, old)),
  ];
};

const ACTIONS = ['Start', 'Stop'];

/** Every reason to refuse what a VM's status asks for: volumes that are to be plugged, starts and stops. */
export const validateVirtualMachineStatus = (vm: VirtualMachine, config: ClusterConfig): Cause[] => [
  ...volumeRequestCauses(vm, config),
  ...(vm.status?.stateChangeRequests ?? []).flatMap(({ action }, index) =>
    oneOf(`status.stateChangeRequests[${index}].action`, action, ACTIONS),
  ),
];

/** The template as the VMI that a start would make of it, as far as rules look at it. */
const templateOf = ({ spec }: VirtualMachine, config: ClusterConfig): VirtualMachineInstance => ({
  metadata: spec.template.metadata ?? {},
  spec: withSpecDefaults(spec.template.spec ?? { domain: { devices: {} } }, config),
});

const runStrategy = ({ running, runStrategy: strategy }: VirtualMachineSpec, config: ClusterConfig): Cause[] => [
  ...when(running !== undefined && strategy !== undefined, () =>
    invalid('spec.running', 'running and runStrategy exclude each other: keep runStrategy'),
  ),
  ...when(running === undefined && strategy === undefined, () =>
    invalid('spec.running', `say when it runs: set runStrategy to one of ${RUN_STRATEGIES.join(', ')}`),
  ),
  ...when(strategy === 'WaitAsReceiver' && !hasGate(config, 'DecentralizedLiveMigration'), () =>
    invalid('spec.runStrategy', 'WaitAsReceiver needs the feature gate DecentralizedLiveMigration'),
  ),
  ...oneOf('spec.runStrategy', strategy, [...RUN_STRATEGIES, 'WaitAsReceiver']),
];

/** Where changes of a running guest are taken at once, memory that can grow has what that needs. */
const liveUpdate = ({ spec }: VirtualMachineInstance, config: ClusterConfig): Cause[] => {
  const { maxGuest } = spec.domain.memory ?? {};
  if (config.vmRolloutStrategy !== 'LiveUpdate' || maxGuest === undefined) return [];
  const obstacle = memoryHotplugObstacle(spec, maxGuest);
  return obstacle === undefined
    ? []
    : [
        invalid(
          'spec.template.spec.domain.memory.guest',
          `the guest cannot take memory while it runs: ${obstacle}. Correct it, or drop maxGuest`,
        ),
      ];
};

/** What a snapshot or a restore under way forbids, and instance types that are pinned to a revision. */
const updateCauses = (vm: VirtualMachine, old: VirtualMachine): Cause[] => {
  const { restoreInProgress, snapshotInProgress } = vm.status ?? {};
  const volumesChange = differ(vm.spec.template.spec?.volumes, old.spec.template.spec?.volumes);
  const strategyChanges = strategyOf(vm.spec) !== strategyOf(old.spec);
  const wait = (operation: string, name: string | undefined, what: string): Cause => ({
    type: 'FieldValueNotSupported',
    field: 'spec',
    message: `${what} cannot change until ${operation} "${name}" is over`,
  });
  return [
    ...matcherUpdateCauses(vm.spec, old.spec),
    ...when(snapshotInProgress !== undefined && volumesChange, () => wait('snapshot', snapshotInProgress, 'volumes')),
    ...when(snapshotInProgress !== undefined && strategyChanges, () =>
      wait('snapshot', snapshotInProgress, 'the run strategy'),
    ),
    ...when(restoreInProgress !== undefined && strategyChanges, () =>
      wait('restore', restoreInProgress, 'the run strategy'),
    ),
  ];
};

const strategyOf = ({ running, runStrategy: strategy }: VirtualMachineSpec): string | undefined =>
  strategy ?? (running === undefined ? undefined : running ? 'Always' : 'Halted');

const differ = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other);
