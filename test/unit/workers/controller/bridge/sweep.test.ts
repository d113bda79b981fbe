import { expect, test } from '@jest/globals';
import { planSweep } from '../../../../../workers/controller/bridge/sweep.ts';
import { vm, vmi } from './objects.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const both = new Set(['vm/n/v/vm1', 'vmi/n/v/i1']);

test.each<[string, Parameters<typeof planSweep>[0], string[]]>([
  ['all is well', { virtualMachines: [vm()], instances: [vmi('Running')], running: both, now }, []],
  [
    'an entity was terminated',
    { virtualMachines: [vm()], instances: [vmi('Running')], running: new Set(['vmi/n/v/i1']), now },
    ['ownVirtualMachine vm/n/v/vm1'],
  ],
  [
    'Temporal was wiped',
    { virtualMachines: [vm()], instances: [vmi('Running')], running: new Set(), now },
    ['ownVirtualMachine vm/n/v/vm1', 'ownInstance vmi/n/v/i1'],
  ],
  [
    'an object is too young for visibility',
    { virtualMachines: [vm({ creationTimestamp: '2026-01-01T00:59:50Z' })], instances: [], running: new Set(), now },
    [],
  ],
  [
    'an object is gone',
    { virtualMachines: [], instances: [], running: both, now },
    ['ownVirtualMachine vm/n/v/vm1', 'ownInstance vmi/n/v/i1'],
  ],
  [
    'an instance is in transition: its operation may be gone',
    { virtualMachines: [], instances: [vmi('Scheduling')], running: new Set(['vmi/n/v/i1']), now },
    ['ownInstance vmi/n/v/i1'],
  ],
  [
    'an instance is being deleted',
    {
      virtualMachines: [],
      instances: [vmi('Running', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      running: new Set(['vmi/n/v/i1']),
      now,
    },
    ['ownInstance vmi/n/v/i1'],
  ],
  [
    'another VMI stands under the name',
    {
      virtualMachines: [],
      instances: [vmi('Running', { uid: 'i2' })],
      running: new Set(['vmi/n/v/i1', 'vmi/n/v/i2']),
      now,
    },
    ['ownInstance vmi/n/v/i1'],
  ],
  [
    'a workflow that is no entity',
    { virtualMachines: [], instances: [], running: new Set(['vmi-start/i1/1']), now },
    [],
  ],
])('%s', (_, input, told) => {
  expect(planSweep(input).deliveries.map(({ kind, workflowId }) => `${kind} ${workflowId}`)).toEqual(told);
});

test('counts what it found', () => {
  const plan = planSweep({ virtualMachines: [vm()], instances: [], running: new Set(['vmi/n/x/gone']), now });
  expect(plan).toMatchObject({ withoutWorkflow: 1, withoutObject: 1 });
});
