/* eslint-disable @typescript-eslint/require-await -- the API server is asynchronous; this one acts at once */
import { pino } from 'pino';
import { migrationConditions } from '../../../activities/controller/migration/migration-status.ts';
import { observeTrigger } from '../../../activities/controller/virtual-machine/triggers/observe-trigger.ts';
import { performTrigger } from '../../../activities/controller/virtual-machine/triggers/perform-trigger.ts';
import type { Kind, Kinds, KubePort } from '../../../activities/kube/port.ts';
import { KubeError } from '../../../activities/kube/port.ts';
import type { WorkflowPort } from '../../../activities/temporal/port.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../../api/kubevirt/types.ts';
import { noWorkflows } from '../no-workflows.ts';
import type { FakeVmim } from './migrations.ts';
import type { FakeVm, FakeVmi, World } from './world.ts';

export interface FakeTriggers {
  controller: Pick<ControllerActivities, 'performTrigger' | 'observeTrigger'>;
  /** Set by the test's lab. */
  workflows: WorkflowPort;
  /** Names of the VMIMs that triggers have created. */
  created: string[];
  /** How often a VM was changed by a trigger. */
  changes: number;
}

/** The real activities on the objects of a simulated cluster. */
export const newTriggers = (world: () => World, refuse: (activity: string) => void): FakeTriggers => {
  const ports = (): Parameters<typeof performTrigger>[0] & { clock: () => Date } => ({
    ...{ kube: kubeOf(world(), triggers), workflows: triggers.workflows },
    ...{ log: pino({ level: 'silent' }), clock: () => new Date() },
  });
  const triggers: FakeTriggers = {
    ...{ workflows: noWorkflows, created: [], changes: 0 },
    controller: {
      performTrigger: async (trigger) => {
        refuse('performTrigger');
        return performTrigger(ports())(trigger);
      },
      observeTrigger: async (request) => {
        refuse('observeTrigger');
        return observeTrigger(ports())(request);
      },
    },
  };
  return triggers;
};

type Served = Pick<Kinds, 'VirtualMachine' | 'VirtualMachineInstance' | 'VirtualMachineInstanceMigration'>;

const kubeOf = (world: World, triggers: FakeTriggers): KubePort => {
  const nothing = async (): Promise<never> => {
    throw new Error('no trigger does this');
  };
  const vmNamed = (name: string): FakeVm | undefined =>
    [...world.vms.values()].find(({ facts }) => facts.vm.name === name);
  const objects = (name: string): { [K in keyof Served]: Served[K] | undefined } => {
    const vm = vmNamed(name);
    const vmi = [...world.vmis.values()].find(({ facts }) => facts.vmi.name === name);
    const vmim = [...world.migrations.vmims.values()].find(({ facts }) => facts.migration.name === name);
    return {
      VirtualMachine: vm && virtualMachine(vm),
      VirtualMachineInstance: vmi && instance(vmi),
      VirtualMachineInstanceMigration: vmim && migration(vmim),
    };
  };
  return {
    ...{ replace: nothing, mergePatch: nothing, remove: nothing, event: async () => undefined },
    get: async <K extends Kind>(kind: K, { name }: { name: string }) =>
      objects(name)[kind as keyof Served] as Kinds[K] | undefined,
    list: async <K extends Kind>() => [...world.migrations.vmims.values()].map(migration) as Kinds[K][],
    create: async <K extends Kind>(_: K, made: Kinds[K]) => {
      const { metadata, spec } = made as VirtualMachineInstanceMigration;
      const { namespace = '', name = '' } = metadata ?? {};
      const vmi = [...world.vmis.values()].find(({ facts }) => facts.vmi.name === spec.vmiName);
      if (vmi === undefined) throw new KubeError(404, 'NotFound', `no VMI ${spec.vmiName}`);
      triggers.created.push(name);
      const vmim = await world.migrations.create(vmi.facts.vmi, { namespace, name, uid: `uid-of-${name}` });
      return migration(vmim) as Kinds[K];
    },
    jsonPatch: async <K extends Kind>(kind: K, { name }: { name: string }, patch: readonly object[]) => {
      const vm = vmNamed(name);
      if (kind !== 'VirtualMachine' || vm === undefined) return nothing();
      triggers.changes += 1;
      for (const { op, path, value } of patch as { op: string; path: string; value: unknown }[]) {
        if (op === 'test') continue;
        if (path === '/status/stateChangeRequests') vm.requests = value as FakeVm['requests'];
        if (path === '/spec/runStrategy')
          vm.facts = { ...vm.facts, runStrategy: String(value), generation: vm.facts.generation + 1 };
      }
      await world.tellVm(vm.facts.vm.uid);
      return virtualMachine(vm) as Kinds[K];
    },
  };
};

const virtualMachine = ({ facts: { vm, runStrategy, deleting }, requests }: FakeVm): VirtualMachine => ({
  ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachine' },
  metadata: { ...vm, ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  spec: { runStrategy, template: { spec: NO_SPEC } },
  status: { stateChangeRequests: structuredClone(requests) },
});

const instance = ({ facts, reports }: FakeVmi): VirtualMachineInstance => {
  const { conditions = [], node, reason } = reports.at(-1) ?? {};
  return {
    ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance' },
    metadata: { ...facts.vmi, ...(facts.deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { ...NO_SPEC, terminationGracePeriodSeconds: facts.gracePeriodSeconds },
    status: {
      ...{ phase: facts.phase, conditions: conditions.map((one) => ({ ...one })) },
      ...(node === undefined ? {} : { nodeName: node }),
      ...(reason === undefined ? {} : { reason }),
      ...(facts.ran === true ? { phaseTransitionTimestamps: [{ phase: 'Running' }] } : {}),
    },
  };
};

const migration = ({ facts, reports }: FakeVmim): VirtualMachineInstanceMigration => {
  const last = reports.at(-1);
  return {
    ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstanceMigration' },
    ...{ metadata: { ...facts.migration }, spec: { vmiName: facts.vmiName } },
    status: { phase: facts.phase, conditions: last === undefined ? [] : migrationConditions(last) },
  };
};

const NO_SPEC: VirtualMachineInstance['spec'] = { domain: { devices: {} } };
