import { expect, test } from '@jest/globals';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { printableStatus } from '../../../../../activities/controller/virtual-machine/printable-status.ts';
import type { VmView } from '../../../../../activities/controller/virtual-machine/printable-status.ts';

const vmOf = (runStrategy: string, more: Partial<VirtualMachine> = {}): VirtualMachine => ({
  metadata: { name: 'v' },
  spec: { runStrategy, template: {} },
  ...more,
});
const vmiOf = (
  phase: string,
  status: Partial<VirtualMachineInstance['status']> = {},
  deleting = false,
): VirtualMachineInstance => ({
  metadata: { name: 'v', ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  spec: { domain: { devices: {} } },
  status: { phase, ...status },
});
const no = (type: string, reason: string) => ({ conditions: [{ type, status: 'False', reason }] });
const always = vmOf('Always');
const crashed = vmOf('Always', { status: { startFailure: { consecutiveFailCount: 1 } } });
const migrating = { migrationState: { startTimestamp: '2026-01-01T00:00:00Z' } };

test.each<[string, string, Partial<VmView>]>([
  [
    'Terminating',
    'the VM is being deleted, whatever the VMI does',
    { vm: vmOf('Always', { metadata: { deletionTimestamp: 'x' } }), vmi: vmiOf('Running') },
  ],
  ['Stopping', 'the VMI is being deleted', { vmi: vmiOf('Running', {}, true) }],
  ['Stopping', 'the VMI is about to be deleted', { vmi: vmiOf('Running'), deletionExpected: true }],
  ['Migrating', 'a migration has started', { vmi: vmiOf('Running', migrating) }],
  [
    'Running',
    'a migration has ended',
    { vmi: vmiOf('Running', { migrationState: { startTimestamp: 'a', endTimestamp: 'b' } }) },
  ],
  ['Paused', 'the guest is paused', { vmi: vmiOf('Running', { conditions: [{ type: 'Paused', status: 'True' }] }) }],
  ['Running', 'the guest runs', { vmi: vmiOf('Running') }],
  ['ErrorPvcNotFound', 'a claim is missing', { vmi: vmiOf('Pending', no('Synchronized', 'FailedPvcNotFound')) }],
  ['ErrorUnschedulable', 'no node has room', { vmi: vmiOf('Scheduling', no('PodScheduled', 'Unschedulable')) }],
  [
    'Starting',
    'the scheduler is busy with something else',
    { vmi: vmiOf('Scheduling', no('PodScheduled', 'SchedulerError')) },
  ],
  ['WaitingForVolumeBinding', 'a claim is not bound', { vmi: vmiOf('Pending'), claimUnbound: true }],
  ['Stopped', 'a claim is not bound, but nobody wants it to run', { vm: vmOf('Halted'), claimUnbound: true }],
  ['Stopped', 'a claim is not bound, and nobody asked', { vm: vmOf('Manual'), claimUnbound: true }],
  [
    'WaitingForVolumeBinding',
    'a claim is not bound, and somebody asked',
    { vm: vmOf('Manual', { status: { stateChangeRequests: [{ action: 'Start' }] } }), claimUnbound: true },
  ],
  ['WaitingForVolumeBinding', 'a claim of a VM that runs once', { vm: vmOf('Once'), claimUnbound: true }],
  ['DataVolumeError', 'a DataVolume fails', { vmi: vmiOf('Pending'), dataVolumes: 'failed' }],
  ['Provisioning', 'a DataVolume is being filled', { vm: vmOf('Halted'), dataVolumes: 'provisioning' }],
  ['Running', 'a DataVolume of a guest that runs', { vmi: vmiOf('Running'), dataVolumes: 'failed' }],
  ['Stopped', 'the next VMI is on its way', { vm: crashed, vmi: vmiOf('Failed'), creationExpected: true }],
  ['ErrImagePull', 'an image cannot be pulled', { vmi: vmiOf('Scheduling', no('Synchronized', 'ErrImagePull')) }],
  [
    'ImagePullBackOff',
    'an image cannot be pulled for longer',
    { vmi: vmiOf('Scheduling', no('Synchronized', 'ImagePullBackOff')) },
  ],
  ['Starting', 'the VMI has no phase', { vmi: vmiOf('') }],
  ['Starting', 'the VMI is scheduled', { vmi: vmiOf('Scheduled') }],
  ['Starting', 'a VMI is about to be created', { creationExpected: true }],
  ['CrashLoopBackOff', 'starts fail one after the other', { vm: crashed, vmi: vmiOf('Failed') }],
  ['CrashLoopBackOff', 'the next start is waited for', { vm: crashed }],
  ['Stopped', 'starts failed, but it is halted by now', { vm: vmOf('Halted', { status: crashed.status ?? {} }) }],
  ['Stopped', 'there is no VMI', { vm: vmOf('Halted') }],
  ['Stopped', 'the VMI has ended', { vm: vmOf('Halted'), vmi: vmiOf('Succeeded') }],
  [
    'WaitingForReceiver',
    'it waits for a guest from elsewhere',
    { vm: vmOf('WaitAsReceiver'), vmi: vmiOf('WaitingForSync') },
  ],
  ['Unknown', 'the phase says nothing', { vmi: vmiOf('Unknown') }],
])('%s: %s', (status, _, view) => {
  const nothing: VmView = {
    vm: always,
    vmi: undefined,
    claimUnbound: false,
    creationExpected: false,
    deletionExpected: false,
  };
  expect(printableStatus({ ...nothing, ...view })).toBe(status);
});
