import { expect, test } from '@jest/globals';
import { instanceFacts } from '../../../../activities/facts/instance.ts';
import { virtualMachineFacts } from '../../../../activities/facts/virtual-machine.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';

const template = { spec: { domain: { devices: {} } } };
const vm = (spec: Partial<VirtualMachine['spec']>): VirtualMachine => ({
  metadata: { namespace: 'n', name: 'v', uid: 'u', resourceVersion: '1', generation: 4 },
  spec: { template, ...spec },
});

test.each<[Partial<VirtualMachine['spec']>, string, RegExp | undefined]>([
  [{ runStrategy: 'Always' }, 'Always', undefined],
  [{ runStrategy: 'Sometimes' }, 'Sometimes', undefined],
  [{ running: true }, 'Always', undefined],
  [{ running: false }, 'Halted', undefined],
  [{}, '', /spec.runStrategy is missing/],
  [{ running: true, runStrategy: 'Halted' }, 'Halted', /exclude each other/],
])('run strategy of %j is "%s"', (spec, strategy, invalid) => {
  const facts = virtualMachineFacts(vm(spec));
  expect(facts.runStrategy).toBe(strategy);
  if (invalid === undefined) expect(facts).not.toHaveProperty('invalid');
  else expect(facts.invalid).toMatch(invalid);
});

test('DataVolumes of templates are created at once, unless the VM says that its start is to create them', () => {
  const dataVolumeTemplates = [{ metadata: { name: 'root' }, spec: {} }];
  const given = { ...vm({ dataVolumeTemplates }) };
  const late = { 'kubevirt.io/immediate-data-volume-creation': 'false' };
  expect(virtualMachineFacts(vm({ dataVolumeTemplates: [] })).dataVolumes).toBeUndefined();
  expect(virtualMachineFacts(given).dataVolumes).toBe('now');
  expect(virtualMachineFacts({ ...given, metadata: { annotations: late } }).dataVolumes).toBe('atStart');
});

test('what an earlier entity of the VM has left in its status, and what a person has', () => {
  const status = {
    runStrategy: 'Always',
    startFailure: { consecutiveFailCount: 2, lastFailedVMIUID: 'i1', retryAfterTimestamp: '2026-01-01T00:00:00Z' },
    conditions: [{ type: 'ManualRecoveryRequired', status: 'True' }],
  };
  expect(virtualMachineFacts({ ...vm({}), status })).toMatchObject({
    ranUnder: 'Always',
    startFailure: { count: 2, uid: 'i1', retryAt: '2026-01-01T00:00:00Z' },
    manualRecovery: true,
  });
  for (const field of ['ranUnder', 'startFailure', 'manualRecovery'])
    expect(virtualMachineFacts(vm({}))).not.toHaveProperty(field);
});

test('only a deletion that spares the instance does so', () => {
  const of = (finalizers: string[], deletionTimestamp?: string) =>
    virtualMachineFacts({ ...vm({}), metadata: { finalizers, ...(deletionTimestamp && { deletionTimestamp }) } });
  expect(of(['orphan'], '2026-01-01T00:00:00Z').orphans).toBe(true);
  expect(of(['foregroundDeletion'], '2026-01-01T00:00:00Z')).not.toHaveProperty('orphans');
  expect(of(['orphan'])).not.toHaveProperty('orphans');
});

test('a VM without a template is invalid, not a crash', () => {
  const broken = { ...vm({}), spec: { runStrategy: 'Always' } } as unknown as VirtualMachine;
  expect(virtualMachineFacts(broken).invalid).toMatch(/spec.template.spec is missing/);
});

test('facts of a VMI: grace period 30 when absent, owner only if it controls', () => {
  const vmi: VirtualMachineInstance = {
    metadata: {
      namespace: 'n',
      name: 'v',
      uid: 'u',
      resourceVersion: '5',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [
        { apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o1' },
        { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'v', uid: 'vm1', controller: true },
      ],
    },
    spec: { domain: { devices: {} } },
    status: {
      phase: 'Running',
      phaseTransitionTimestamps: [{ phase: 'Running' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  expect(instanceFacts(vmi)).toEqual({
    vmi: { namespace: 'n', name: 'v', uid: 'u' },
    resourceVersion: '5',
    phase: 'Running',
    deleting: true,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    gracePeriodSeconds: 30,
    finalizers: [],
    owner: { name: 'v', uid: 'vm1' },
    ran: true,
    ready: true,
    paused: false,
  });
});

test('a grace period of zero stays zero', () => {
  const vmi: VirtualMachineInstance = { spec: { domain: { devices: {} }, terminationGracePeriodSeconds: 0 } };
  expect(instanceFacts(vmi).gracePeriodSeconds).toBe(0);
});

test.each([['soon'], [-5], [1.5], [null]])('a grace period of %j counts as absent', (given) => {
  const spec = { domain: { devices: {} }, terminationGracePeriodSeconds: given as number };
  expect(instanceFacts({ spec }).gracePeriodSeconds).toBe(30);
});
