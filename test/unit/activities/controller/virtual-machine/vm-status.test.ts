import { expect, test } from '@jest/globals';
import type { VirtualMachineReport } from '../../../../../api/contract/activities.ts';
import type { Followed } from '../../../../../activities/controller/virtual-machine/follow-template.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import {
  mirroredConditions,
  remainingRequests,
  virtualMachinePatch,
} from '../../../../../activities/controller/virtual-machine/vm-status.ts';

const now = '2026-01-01T00:00:00Z';
const vm: VirtualMachine = {
  metadata: { namespace: 'n', name: 'v', uid: 'u', generation: 3 },
  spec: { runStrategy: 'Always', template: {} },
};
const vmi = (
  phase: string,
  conditions: { type: string; status: string; reason?: string }[] = [],
): VirtualMachineInstance => ({
  metadata: { name: 'v', uid: 'i1' },
  spec: { domain: { devices: {} } },
  status: { phase, conditions },
});
const report = (more: Partial<VirtualMachineReport> = {}): VirtualMachineReport => ({
  ...{ instance: 'i1', ends: false, then: 'run', generation: 3, runStrategy: 'Always' },
  ...{ conditions: [], settledRequests: [], ...more },
});
const status = (instance: VirtualMachineInstance | undefined, said: VirtualMachineReport, followed?: Followed) =>
  virtualMachinePatch(vm, { vmi: instance, claimUnbound: false, followed }, said, now)?.['status'] as Record<
    string,
    unknown
  >;

const startFailure = { consecutiveFailCount: 1, lastFailedVMIUID: 'x', retryAfterTimestamp: now };

test.each<[string, VirtualMachineInstance | undefined, VirtualMachineReport, string]>([
  ['before its VMI exists', undefined, report(), 'Starting'],
  ['running', vmi('Running'), report(), 'Running'],
  ['a restart stops the guest', vmi('Running'), report({ ends: true }), 'Stopping'],
  ['a restart: the guest has ended', vmi('Succeeded'), report({ ends: true }), 'Stopping'],
  ['a restart: the VMI is gone', undefined, report({ ends: true }), 'Starting'],
  ['a guest that runs again has ended, and nobody knows yet', vmi('Succeeded'), report(), 'Stopping'],
  ['a stop', vmi('Running'), report({ ends: true, then: 'stop' }), 'Stopping'],
  ['a stop: the guest has ended', vmi('Succeeded'), report({ ends: true, then: 'stop' }), 'Stopped'],
  ['stopped', undefined, report({ then: 'stop' }), 'Stopped'],
  ['the VMI is gone, and nobody knows yet', undefined, report({ then: 'stop' }), 'Stopped'],
  ['a guest that reruns has failed, and nobody knows yet', vmi('Failed'), report({ then: 'runIfFailed' }), 'Stopping'],
  ['a guest that reruns has ended well', vmi('Succeeded'), report({ then: 'runIfFailed' }), 'Stopped'],
  ['another VMI than the one that was stopped', vmi('Running'), report({ instance: 'i0', ends: true }), 'Running'],
  ['backing off', undefined, report({ startFailure }), 'CrashLoopBackOff'],
  ['backing off from one that is still there', vmi('Failed'), report({ startFailure, ends: true }), 'CrashLoopBackOff'],
  ['the next try', vmi('Pending'), report({ startFailure }), 'Starting'],
])('printable status while %s', (_, instance, said, word) => {
  expect(status(instance, said)['printableStatus']).toBe(word);
});

test('status of a running VM', () => {
  const instance = vmi('Running', [
    { type: 'Ready', status: 'True' },
    { type: 'AgentConnected', status: 'True' },
  ]);
  expect(status(instance, report())).toMatchObject({
    created: true,
    ready: true,
    runStrategy: 'Always',
    observedGeneration: 3,
    desiredGeneration: 3,
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'AgentConnected', status: 'True' },
    ],
  });
});

test('written once, it differs no more', () => {
  const written = { ...vm, status: status(vmi('Running'), report()) } as VirtualMachine;
  const observed = { vmi: vmi('Running'), claimUnbound: false };
  expect(virtualMachinePatch(written, observed, report(), '2026-02-02T00:00:00Z')).toBeUndefined();
});

test('requests are not touched', () => {
  expect(status(vmi('Running'), report())).not.toHaveProperty('stateChangeRequests');
});

test.each([
  ['no VMI', undefined, { type: 'Ready', status: 'False', reason: 'VMINotExists' }],
  ['a VMI without Ready', vmi('Scheduling'), { type: 'Ready', status: 'False', reason: 'VMIConditionMissing' }],
  [
    'a VMI with Ready',
    vmi('Running', [
      { type: 'X', status: 'True' },
      { type: 'Ready', status: 'True' },
    ]),
    { type: 'Ready', status: 'True' },
  ],
])('Ready with %s', (_, instance, ready) => {
  expect(mirroredConditions(instance)[0]).toMatchObject(ready);
});

test('a condition of the VM that others write stays', () => {
  const conditions = ['ManualRecoveryRequired', 'RestartRequired', 'Old'].map((type) => ({ type, status: 'True' }));
  const live = { ...vm, status: { conditions } };
  const patch = virtualMachinePatch(live, { vmi: undefined, claimUnbound: false }, report(), now)?.['status'] as {
    conditions: { type: string }[];
  };
  expect(patch.conditions.map(({ type }) => type)).toEqual(['Ready', 'ManualRecoveryRequired']);
});

test('a template that a running guest cannot take needs a restart, and generations tell which it stands for', () => {
  const fields = ['spec.template.spec.domain.cpu.sockets'];
  const told = status(vmi('Running'), report(), { generation: 2, fieldsForRestart: fields });
  expect(told).toMatchObject({ observedGeneration: 2, desiredGeneration: 3 });
  expect(told['conditions']).toContainEqual(
    expect.objectContaining({
      ...{ type: 'RestartRequired', status: 'True', message: expect.stringContaining(fields[0] ?? '') },
    }),
  );
  const same = status(vmi('Running'), report(), { generation: 3, fieldsForRestart: [] });
  expect(same).toMatchObject({ observedGeneration: 3, conditions: [{ type: 'Ready' }] });
});

const stop = { action: 'Stop', uid: 'i1' };
const start = { action: 'Start' };

test.each([
  ['nothing settled', [stop], [], undefined],
  ['the head is settled', [stop, start], [stop], [start]],
  ['both are settled', [stop, start], [stop, start], []],
  ['the head is off the list already', [start], [stop, start], []],
  ['a later request is not lost', [{ action: 'Stop', uid: 'i2' }], [stop], undefined],
  ['the list is empty', [], [stop], undefined],
  ['data does not matter', [{ ...start, data: { paused: 'true' } }], [start], []],
])('settling: %s', (_, queued, settled, left) => {
  const settledRequests = settled.map((request, id) => ({ id, ...request, outcome: 'served' as const, message: '' }));
  expect(remainingRequests({ status: { stateChangeRequests: queued } }, { settledRequests })).toEqual(left);
});
