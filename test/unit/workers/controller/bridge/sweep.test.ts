import { describe, expect, test } from '@jest/globals';
import { planSweep } from '../../../../../workers/controller/bridge/sweep.ts';
import type { Node } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { node, vm, vmi, vmim } from './objects.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const both = new Set(['vm/n/v/vm1', 'vmi/n/v/i1']);

type Input = Parameters<typeof planSweep>[0];
const rules = { evictionStrategy: 'None', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } } as const;

const plan = (input: Omit<Input, 'migrations' | 'nodes' | 'rules' | 'replicaSets'> & Partial<Input>): string[] =>
  planSweep({ migrations: [], replicaSets: [], nodes: [], rules, ...input }).deliveries.map(
    ({ kind, workflowId }) => `${kind} ${workflowId}`,
  );

test.each<[string, Parameters<typeof plan>[0], string[]]>([
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
  expect(plan(input)).toEqual(told);
});

describe('a node that somebody is to leave', () => {
  const asked = vmi('Running', {}, { nodeName: 'a', evacuationNodeName: 'a' });
  const input = { virtualMachines: [], instances: [asked], nodes: [node()], now };

  test('is looked at again, and its workflow started if it was lost', () => {
    expect(plan({ ...input, running: new Set(['vmi/n/v/i1']) })).toEqual(['ownEvacuation evacuate/a/n1']);
    expect(plan({ ...input, running: new Set(['vmi/n/v/i1', 'evacuate/a/n1']) })).toEqual([
      'ownEvacuation evacuate/a/n1',
    ]);
  });

  test('whose workflow goes on although nobody is to leave is told', () => {
    const running = new Set(['vmi/n/v/i1', 'evacuate/a/n1']);
    expect(plan({ ...input, instances: [vmi('Running')], running })).toEqual(['ownEvacuation evacuate/a/n1']);
  });
});

test('counts what it found', () => {
  const input = { virtualMachines: [vm()], instances: [], migrations: [], replicaSets: [], nodes: [], rules, now };
  expect(planSweep({ ...input, running: new Set(['vmi/n/x/gone']) })).toMatchObject({
    ...{ withoutWorkflow: 1, withoutObject: 1 },
  });
});

const none = { virtualMachines: [], instances: [], now };
const migration = 'ownMigration migration/n/m/m1';

test.each<[string, Input['migrations'], string[], string[]]>([
  ['it runs', [vmim('Running')], ['migration/n/m/m1'], []],
  ['its workflow was terminated', [vmim('Running')], [], [migration]],
  ['it was never begun', [vmim('')], [], [migration]],
  ['it is over and was not let go', [vmim('Failed')], [], [migration]],
  ['it is over', [vmim('Failed', { finalizers: [] })], [], []],
  ['it is over, and its workflow tidies up', [vmim('Succeeded', { finalizers: [] })], ['migration/n/m/m1'], []],
  ['its object is gone', [], ['migration/n/m/m1'], [migration]],
  ['it is too young for visibility', [vmim('', { creationTimestamp: '2026-01-01T00:59:50Z' })], [], []],
])('a migration: %s', (_, migrations, running, told) => {
  expect(plan({ ...none, migrations, running: new Set(running) })).toEqual(told);
});

const [startTimestamp, endTimestamp] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'];

test.each<[string, object, boolean]>([
  ['was never migrated', {}, false],
  ['is being migrated', { migrationState: { migrationUid: 'm1' }, activePods: { p1: 'a' } }, true],
  ['moves', { migrationState: { startTimestamp }, activePods: { p1: 'a', p2: 'b' } }, true],
  [
    'was migrated',
    { migrationState: { startTimestamp, endTimestamp, completed: true }, activePods: { p2: 'b' } },
    false,
  ],
  [
    'has moved, and its old Pod is still there',
    { migrationState: { completed: true }, activePods: { p1: 'a', p2: 'b' } },
    true,
  ],
])('an instance that %s', (_, status, again) => {
  const running = new Set(['vmi/n/v/i1']);
  expect(plan({ ...none, instances: [vmi('Running', {}, status)], running })).toEqual(
    again ? ['ownInstance vmi/n/v/i1'] : [],
  );
});

const ownNode = 'ownNode node/a/n1';
const known = new Set(['vmi/n/v/i1', 'node/a/n1']);
const unresponsive = { conditions: [{ type: 'NodeUnresponsive', status: 'True' }] };
const fresh = '2026-01-01T00:59:30Z';
const old = '2026-01-01T00:50:00Z';

test.each<[string, Node, VirtualMachineInstance[], ReadonlySet<string>, string[]]>([
  ['its worker is heard of', node(fresh), [vmi('Running', {}, { nodeName: 'a' })], known, []],
  ['its workflow was terminated', node(fresh), [], new Set(), [ownNode]],
  ['it has never had a worker', node(), [], new Set(), []],
  ['it is gone', { metadata: { name: 'b', uid: 'n2' } }, [], known, ['ownInstance vmi/n/v/i1', ownNode]],
  [
    'it is silent and its instance says so',
    node(old),
    [vmi('Running', {}, { nodeName: 'a', ...unresponsive })],
    known,
    [],
  ],
  [
    'it is silent and its instance does not say so',
    node(old),
    [vmi('Running', {}, { nodeName: 'a' })],
    known,
    [ownNode],
  ],
  [
    'it is back and its instance does not say so',
    node(fresh),
    [vmi('Running', {}, { nodeName: 'a', ...unresponsive })],
    known,
    [ownNode],
  ],
  ['it is silent and another node’s instance', node(old), [vmi('Running', {}, { nodeName: 'b' })], known, []],
])('a node: %s', (_, given, instances, running, told) => {
  expect(plan({ virtualMachines: [], instances, nodes: [given], running, now })).toEqual(told);
});
