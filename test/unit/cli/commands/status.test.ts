import { expect, test } from '@jest/globals';
import { renderStatus, summarize } from '../../../../cli/commands/status.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';

const vm: VirtualMachine = {
  metadata: { namespace: 'prod', name: 'web' },
  spec: { runStrategy: 'Always', template: { spec: { domain: { devices: {} } } } },
  status: { printableStatus: 'Running', conditions: [{ type: 'Ready', status: 'False', reason: 'Old' }] },
};
const vmi: VirtualMachineInstance = {
  spec: { domain: { devices: {} } },
  status: {
    phase: 'Running',
    nodeName: 'node-a',
    interfaces: [{ ipAddress: '10.0.0.7' }],
    guestOSInfo: { prettyName: 'Debian 12' },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'AgentConnected', status: 'True' },
    ],
  },
};

test('the view of a running VM names phase, node, addresses, guest and the holder of its run token', () => {
  expect(summarize(vm, vmi, 'u1 on node-a')).toMatchObject({
    status: 'Running',
    runStrategy: 'Always',
    phase: 'Running',
    node: 'node-a',
    addresses: ['10.0.0.7'],
    agent: 'connected',
    guest: 'Debian 12',
    tokenHolder: 'u1 on node-a',
  });
});

test("the instance's own condition wins over the VM's mirrored one", () => {
  expect(summarize(vm, vmi, undefined).conditions).toContainEqual({
    type: 'Ready',
    status: 'True',
    reason: '',
    message: '',
  });
});

test('a VM without an instance shows dashes, not blanks', () => {
  const text = renderStatus(summarize({ ...vm, status: {} }, undefined, undefined));
  expect(text).toContain('no status yet');
  expect(text).toContain('not connected');
});

test('an instance without a VM shows its phase and says that there is no VM', () => {
  const bare = { ...vmi, metadata: { namespace: 'prod', name: 'bare' } };
  const view = summarize(undefined, bare, undefined);
  expect(view).toMatchObject({ name: 'bare', namespace: 'prod', status: 'Running' });
  expect(renderStatus(view)).toContain('an instance without a VM');
});

test('names of conditions and reasons are not cut off', () => {
  const long = { type: 'StorageLiveMigratable', status: 'False', reason: 'PersistentReservationNotLiveMigratable' };
  const text = renderStatus(summarize(vm, { ...vmi, status: { conditions: [long] } }, undefined));
  expect(text).toContain(long.type);
  expect(text).toContain(long.reason);
});
