import { expect, test } from '@jest/globals';
import type { VirtualMachineReport } from '../../../../../api/contract/activities.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { settleOperations } from '../../../../../activities/controller/virtual-machine/settle-requests.ts';
import {
  mirroredConditions,
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
  metadata: { name: 'v' },
  spec: { domain: { devices: {} } },
  status: { phase, conditions },
});
const report = (more: Partial<VirtualMachineReport> = {}): VirtualMachineReport => ({
  intent: 'run',
  observedGeneration: 3,
  conditions: [],
  settledRequests: [],
  ...more,
});
const status = (instance: VirtualMachineInstance | undefined, said: VirtualMachineReport) =>
  virtualMachinePatch(vm, instance, said, false, now)?.['status'] as Record<string, unknown>;

test.each<[string, VirtualMachineInstance | undefined, VirtualMachineReport, string]>([
  ['before its VMI exists', undefined, report(), 'Starting'],
  ['running', vmi('Running'), report(), 'Running'],
  ['a restart stops the guest', vmi('Running'), report({ intent: 'restart' }), 'Stopping'],
  ['a restart: the guest has ended', vmi('Succeeded'), report({ intent: 'restart' }), 'Stopping'],
  ['a restart: the VMI is gone', undefined, report({ intent: 'restart' }), 'Starting'],
  ['a stop', vmi('Running'), report({ intent: 'stop' }), 'Stopping'],
  ['stopped', undefined, report({ intent: 'stop' }), 'Stopped'],
  [
    'backing off',
    undefined,
    report({ startFailure: { consecutiveFailCount: 1, lastFailedVMIUID: 'x', retryAfterTimestamp: now } }),
    'CrashLoopBackOff',
  ],
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
  expect(virtualMachinePatch(written, vmi('Running'), report(), false, '2026-02-02T00:00:00Z')).toBeUndefined();
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
  const live = {
    ...vm,
    status: {
      conditions: [
        { type: 'RestartRequired', status: 'True' },
        { type: 'Old', status: 'True' },
      ],
    },
  };
  const patch = virtualMachinePatch(live, undefined, report(), false, now)?.['status'] as {
    conditions: { type: string }[];
  };
  expect(patch.conditions.map(({ type }) => type)).toEqual(['Ready', 'RestartRequired']);
});

const stop = { action: 'Stop', uid: 'i1' };
const start = { action: 'Start' };
const ops = (count: number) => Array.from({ length: count }, () => ['test', 'remove']).flat();

test.each([
  ['nothing settled', [stop], [], 0],
  ['the head is settled', [stop, start], [stop], 1],
  ['both are settled', [stop, start], [stop, start], 2],
  ['the head is off the list already', [start], [stop, start], 1],
  ['a later request is not lost', [{ action: 'Stop', uid: 'i2' }], [stop], 0],
  ['the list is empty', [], [stop], 0],
  ['data does not matter', [{ ...start, data: { paused: 'true' } }], [start], 1],
])('settling: %s', (_, queued, settled, removed) => {
  const operations = settleOperations(queued, settled) as { op: string }[];
  expect(operations.map(({ op }) => op)).toEqual(ops(removed));
});
