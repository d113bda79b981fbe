import { expect, test } from '@jest/globals';
import { compareMutation, type MutationCase } from '../../../oracle/sets/mutation.ts';
import { asGoWrites } from '../../../oracle/sets/stored.ts';
import { compareVmStatus, type VmStatusCase } from '../../../oracle/sets/vm-status.ts';
import { compareVmToVmi, type VmToVmiCase } from '../../../oracle/sets/vm-to-vmi.ts';

test('what Go leaves out, or always writes, is no difference; a structure that says something by being there is', () => {
  const ours = { domain: { resources: {}, devices: { disks: [], rng: {} } }, hostname: '', grace: 0 };
  expect(asGoWrites(ours)).toEqual({ domain: { devices: { rng: {} } } });
});

test('a VMIM is stored with its label and finalizer', () => {
  const metadata = { labels: { 'kubevirt.io/vmi-name': 'web' }, finalizers: ['kubevirt.io/migrationJobFinalize'] };
  const testCase: MutationCase = {
    ...{ id: 'x', kind: 'vmim', input: { metadata: { name: 'move' }, spec: { vmiName: 'web' } } },
    output: { metadata, spec: { vmiName: 'web' } },
  };
  expect(compareMutation(testCase)).toEqual({ kind: 'equal' });
  expect(compareMutation({ ...testCase, output: { metadata: {}, spec: { vmiName: 'web' } } }).kind).toBe('different');
});

test('what is refused is not stored', () => {
  const testCase: MutationCase = { id: 'x', kind: 'vmim', input: { metadata: {} }, output: {} };
  expect(compareMutation(testCase)).toEqual({ kind: 'listed', rules: ['shape-names-the-field'] });
});

const vm: VmToVmiCase['vm'] = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { runStrategy: 'Always', template: { spec: { domain: { devices: {}, firmware: { uuid: 'f' } } } } },
};

test('a VMI of a VM: a field more or less is a difference', () => {
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'web', uid: 'u' };
  const vmi: VmToVmiCase['vmi'] = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'web',
      namespace: 'shop',
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: { domain: { devices: {}, firmware: { uuid: 'f' } } },
  };
  expect(compareVmToVmi({ vm, vmi })).toEqual({ kind: 'equal' });
  const more = { ...vmi, spec: { ...vmi.spec, hostname: 'web' } };
  expect(compareVmToVmi({ vm, vmi: more }).kind).toBe('different');
});

test('the status of a VM: word and conditions', () => {
  const stopped: VmStatusCase = {
    ...{ vm, vmi: null, creationExpected: false, deletionExpected: false, printableStatus: 'Stopped' },
    conditions: [
      { type: 'Ready', status: 'False', reason: 'VMINotExists', message: 'VMI does not exist' } as { type: string },
    ],
  };
  expect(compareVmStatus(stopped)).toEqual({ kind: 'equal' });
  expect(compareVmStatus({ ...stopped, printableStatus: 'Running' }).kind).toBe('different');
  expect(compareVmStatus({ ...stopped, conditions: [] }).kind).toBe('different');
});
