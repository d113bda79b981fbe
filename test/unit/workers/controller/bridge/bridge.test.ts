import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Node, Pod } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstanceReplicaSet } from '../../../../../api/kubevirt/types.ts';
import { Bridge } from '../../../../../workers/controller/bridge/bridge.ts';
import type { Delivery } from '../../../../../workers/controller/bridge/deliveries.ts';
import type { WatchedChange } from '../../../../../workers/controller/informers/informers.ts';
import { until } from '../../../../support/until.ts';
import { node, pod, vm, vmi, vmim } from './objects.ts';

const log = pino({ level: 'silent' });
const entity = 'vm/n/v/vm1';
const instance = 'vmi/n/v/i1';

const bridgeWith = (
  instances = [vmi('Pending')],
  now?: () => number,
  nodes: Node[] = [],
  sets: VirtualMachineInstanceReplicaSet[] = [],
  virtualMachines: VirtualMachine[] = [],
) => {
  const sent: Delivery[] = [];
  let isDown = false;
  const bridge = new Bridge({
    deliver: (delivery) => {
      if (isDown) return Promise.reject(new Error('Temporal is down'));
      sent.push(delivery);
      return Promise.resolve();
    },
    instances: () => instances,
    nodes: () => nodes,
    replicaSets: () => sets,
    virtualMachines: () => virtualMachines,
    rules: () => ({ evictionStrategy: 'LiveMigrate', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } }),
    log,
    patienceMs: 20,
    ...(now === undefined ? {} : { now }),
  });
  const after = async (...changes: WatchedChange[]): Promise<string[]> => {
    sent.length = 0;
    for (const change of changes) bridge.changed(change);
    await until('the bridge is idle', () => bridge.backlog === 0);
    return sent.map(({ workflowId, kind }) => `${workflowId} ${kind}`);
  };
  return { bridge, sent, after, down: (value: boolean) => (isDown = value) };
};

test("a VMI is told to its own entity and to its VM's", async () => {
  const { after } = bridgeWith();
  const told = await after({ kind: 'VirtualMachineInstance', after: vmi('Running') });
  expect(told).toEqual([`${instance} ownInstance`, `${entity} plain`]);
});

test('a VM that has created its instance is not told of it before it runs, but of what holds it up, and of that no more', async () => {
  const { after } = bridgeWith();
  const [created, scheduling] = [vmi('Pending'), vmi('Scheduling')];
  expect(await after({ kind: 'VirtualMachineInstance', after: created })).toEqual([`${instance} ownInstance`]);
  expect(await after({ kind: 'VirtualMachineInstance', before: created, after: scheduling })).toEqual([]);
  const condition = { type: 'Synchronized', status: 'False' as const };
  const held = { ...scheduling, status: { phase: 'Scheduling' as const, conditions: [condition] } };
  const toVm = [`${entity} plain`];
  expect(await after({ kind: 'VirtualMachineInstance', before: scheduling, after: held })).toEqual(toVm);
  expect(await after({ kind: 'VirtualMachineInstance', before: held, after: scheduling })).toEqual(toVm);
});

test('a VMI that is found on its way is told to its VM', async () => {
  const { after } = bridgeWith();
  const told = await after({ kind: 'VirtualMachineInstance', after: vmi('Scheduling') });
  expect(told).toEqual([`${instance} ownInstance`, `${entity} plain`]);
});

const up = (): Pod => {
  const running = { startedAt: '2026-01-01T00:00:00Z' };
  const compute = { name: 'compute', image: '', imageID: '', ready: true, restartCount: 0, state: { running } };
  return { ...pod('Running'), status: { phase: 'Running', containerStatuses: [compute] } };
};
const comesUp: WatchedChange = { kind: 'Pod', before: pod('Pending'), after: up() };

test('that a Pod is up is told only if the guest does not run soon after', async () => {
  const instances = [vmi('Scheduling')];
  const { after, sent } = bridgeWith(instances);
  expect(await after(comesUp)).toEqual([]);
  await until('it has waited', () => sent.length === 1);
  expect(sent[0]).toMatchObject({ workflowId: instance, args: [{ uid: 'p1' }] });
});

test('that a Pod is up is not told of an instance that runs by then, and at once after what is worse', async () => {
  const { after } = bridgeWith([vmi('Running')]);
  expect(await after(comesUp)).toEqual([]);
  const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: 'no node' };
  const held = { ...pod('Pending'), status: { phase: 'Pending', conditions: [condition] } };
  expect(await after({ kind: 'Pod', before: pod('Pending'), after: held })).toEqual([`${instance} plain`]);
  expect(await after({ kind: 'Pod', before: held, after: up() })).toEqual([`${instance} plain`]);
});

test('a relist tells only what changed since the last acknowledged delivery', async () => {
  const { after } = bridgeWith();
  const change: WatchedChange = { kind: 'VirtualMachineInstance', after: vmi('Running') };
  await after(change);
  expect(await after(change)).toEqual([]);
  expect(await after({ kind: 'VirtualMachineInstance', after: vmi('Succeeded') })).toEqual([`${entity} plain`]);
});

test('what is gone is told once, and its memory goes', async () => {
  const { after } = bridgeWith();
  await after({ kind: 'VirtualMachine', after: vm() });
  expect(await after({ kind: 'VirtualMachine', before: vm() })).toEqual([`${entity} ownVirtualMachine`]);
  expect(await after({ kind: 'VirtualMachine', after: vm() })).toEqual([`${entity} ownVirtualMachine`]);
});

test('a Pod is told to the entity of its VMI only', async () => {
  const { after, sent } = bridgeWith();
  expect(await after({ kind: 'Pod', after: pod('Running') })).toEqual([`${instance} plain`]);
  expect(await after({ kind: 'Pod', before: pod('Running') })).toEqual([`${instance} plain`]);
  expect(sent[0]).toMatchObject({ args: [{ uid: 'p1', gone: true }] });
});

test('that a Pod has got its node is told only of one that had found none, or that a migration made', async () => {
  const { after } = bridgeWith();
  const placed = { ...pod('Pending'), spec: { containers: [], nodeName: 'n1' } };
  expect(await after({ kind: 'Pod', before: pod('Pending'), after: placed })).toEqual([]);
  const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: 'no node' };
  const unschedulable = { ...pod('Pending'), status: { phase: 'Pending', conditions: [condition] } };
  expect(await after({ kind: 'Pod', before: unschedulable, after: placed })).toEqual([`${instance} plain`]);
  const target = pod('Pending', { uid: 'p2', labels: { 'kubevirt.io/migrationJobUID': 'm1' } });
  const aimed = { ...target, spec: placed.spec };
  expect(await after({ kind: 'Pod', before: target, after: aimed })).toEqual([`${instance} plain`]);
});

test('that a Pod is being deleted is no news while its VMI is', async () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const [deleted, kept] = [bridgeWith([vmi('Running', { deletionTimestamp })]), bridgeWith([vmi('Running')])];
  const deleting: WatchedChange = { kind: 'Pod', before: pod('Running'), after: pod('Running', { deletionTimestamp }) };
  expect(await deleted.after(deleting)).toEqual([]);
  expect(await kept.after(deleting)).toEqual([`${instance} plain`]);
  expect(await kept.after({ kind: 'Pod', before: pod('Running', { deletionTimestamp }) })).toEqual([
    `${instance} plain`,
  ]);
});

test('the end of a Pod is told of a VMI that is being deleted only if it is not over soon after', async () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const gone: WatchedChange = { kind: 'Pod', before: pod('Running', { deletionTimestamp }) };
  const waits = bridgeWith([vmi('Running', { deletionTimestamp })]);
  expect(await waits.after(gone)).toEqual([]);
  await until('it is told', () => waits.sent.length === 1);
  const over = bridgeWith([vmi('Succeeded', { deletionTimestamp })]);
  expect(await over.after(gone)).toEqual([]);
  await over.after({ kind: 'VirtualMachineInstance', before: vmi('Succeeded', { deletionTimestamp }) });
  expect(over.sent.filter(({ kind, key }) => kind === 'plain' && key.includes('podObserved'))).toEqual([]);
});

test('a VM that is being deleted is told of its instance only that it is gone', async () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const { after } = bridgeWith([], undefined, [], [], [vm({ deletionTimestamp })]);
  const running = vmi('Running', { deletionTimestamp });
  const first: WatchedChange = { kind: 'VirtualMachineInstance', before: vmi('Running'), after: running };
  expect(await after(first)).toEqual([`${instance} ownInstance`]);
  const ended = vmi('Succeeded', { deletionTimestamp });
  expect(await after({ kind: 'VirtualMachineInstance', before: running, after: ended })).toEqual([]);
  expect(await after({ kind: 'VirtualMachineInstance', before: ended })).toEqual([
    `${instance} ownInstance`,
    `${entity} plain`,
  ]);
});

test('what comes again while it is on its way is not told twice', async () => {
  const { after } = bridgeWith();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const deleting = vmi('Running', { deletionTimestamp, ownerReferences: [] });
  const twice: WatchedChange = { kind: 'VirtualMachineInstance', before: vmi('Running'), after: deleting };
  expect(await after(twice, twice)).toEqual([`${instance} ownInstance`]);
});

test('of an instance that is being deleted its VM is told how it ends, not what is said of it on the way', async () => {
  const { after } = bridgeWith();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const running = vmi('Running', { deletionTimestamp });
  const condition = { type: 'Ready', status: 'False' as const, reason: 'GuestNotRunning' };
  const ending = { ...running, status: { phase: 'Running' as const, conditions: [condition] } };
  await after({ kind: 'VirtualMachineInstance', before: vmi('Running'), after: running });
  expect(await after({ kind: 'VirtualMachineInstance', before: running, after: ending })).toEqual([]);
  const ended = vmi('Succeeded', { deletionTimestamp });
  expect(await after({ kind: 'VirtualMachineInstance', before: ending, after: ended })).toEqual([`${entity} plain`]);
});

test('a Pod that no VMI owns is nobody’s business', async () => {
  const { after } = bridgeWith();
  expect(await after({ kind: 'Pod', after: pod('Running', { ownerReferences: [] }) })).toEqual([]);
});

test('while Temporal is down the newest state per receiver is kept, and delivered later', async () => {
  const { bridge, sent, down } = bridgeWith();
  down(true);
  bridge.changed({ kind: 'Pod', after: pod('Pending') });
  bridge.changed({ kind: 'Pod', after: pod('Running') });
  bridge.changed({ kind: 'Pod', after: pod('Failed') });
  expect(bridge.backlog).toBeLessThanOrEqual(2);
  down(false);
  await until('it is delivered', () => bridge.backlog === 0);
  expect(sent.at(-1)).toMatchObject({ args: [{ phase: 'Failed' }] });
});

const claim = (name: string, phase: string) => ({ metadata: { namespace: 'n', name, uid: 'c' }, status: { phase } });

test.each<[string, WatchedChange, number]>([
  ['a claim that it uses', { kind: 'PersistentVolumeClaim', after: claim('claim', 'Bound') }, 1],
  ['a claim that it does not use', { kind: 'PersistentVolumeClaim', after: claim('other', 'Bound') }, 0],
  [
    'a quota of its namespace',
    { kind: 'ResourceQuota', after: { metadata: { namespace: 'n', name: 'q' }, spec: { hard: { pods: '1' } } } },
    1,
  ],
  [
    'a quota of another namespace',
    { kind: 'ResourceQuota', after: { metadata: { namespace: 'm', name: 'q' }, spec: { hard: { pods: '1' } } } },
    0,
  ],
  [
    'the configuration',
    { kind: 'KubeVirt', after: { metadata: { name: 'kubevirt' }, spec: { imagePullPolicy: 'Always' } } },
    // And the scheduler of migrations.
    2,
  ],
  ['a node', { kind: 'Node', after: { metadata: { name: 'node-a' }, spec: { unschedulable: true } } }, 1],
])('an instance that waits is woken by %s', async (_, change, times) => {
  const { after } = bridgeWith();
  expect(await after(change)).toHaveLength(times);
});

test('an ended Pod wakes the instance that came after its own under the same name, and no other', async () => {
  const successor = vmi('Pending', { uid: 'i2' });
  const { after } = bridgeWith([successor, vmi('Pending', { name: 'other', uid: 'i3' })]);
  const woken = `${instance.replace('i1', 'i2')} plain`;
  const ended = pod('Succeeded');
  ended.status = {
    ...{ phase: 'Succeeded' },
    containerStatuses: [
      {
        ...{ name: 'compute', image: '', imageID: '', ready: false, restartCount: 0 },
        state: { terminated: { exitCode: 0 } },
      },
    ],
  };
  expect(await after({ kind: 'Pod', after: pod('Running') })).not.toContain(woken);
  expect(await after({ kind: 'Pod', after: ended })).toEqual([`${instance} plain`, woken]);
  expect(await after({ kind: 'Pod', before: ended })).toEqual([`${instance} plain`, woken]);
});

test('an instance that runs is not woken', async () => {
  const { after } = bridgeWith([vmi('Running')]);
  expect(await after({ kind: 'PersistentVolumeClaim', after: claim('claim', 'Bound') })).toEqual([]);
});

describe('an instance type or a preference', () => {
  const refersTo = (name: string, reference: object, status: object = {}): VirtualMachine => {
    const { metadata, spec } = vm();
    return { metadata: { ...metadata, name, uid: name }, spec: { ...spec, ...reference }, status };
  };
  const waiting = [
    refersTo('a', { instancetype: { name: 'small' } }),
    refersTo('b', { instancetype: { name: 'small', kind: 'VirtualMachineInstancetype' } }),
    refersTo('c', { preference: { name: 'small' } }),
    refersTo(
      'd',
      { instancetype: { name: 'small' } },
      { instancetypeRef: { name: 'small', controllerRevisionRef: { name: 'kept' } } },
    ),
    refersTo('e', { instancetype: { name: 'large' } }),
    refersTo('f', {}),
  ];
  const change = (kind: 'VirtualMachineClusterInstancetype' | 'VirtualMachineInstancetype', namespace?: string) => {
    const metadata = { name: 'small', uid: 't', generation: 1, ...(namespace === undefined ? {} : { namespace }) };
    return { kind, after: { metadata, spec: { cpu: { guest: 1 }, memory: { guest: '1Gi' } } } };
  };
  const { after } = bridgeWith([], undefined, [], [], waiting);

  test('that comes wakes the VMs that refer to it and keep no copy', async () => {
    expect(await after(change('VirtualMachineClusterInstancetype'))).toEqual(['vm/n/a/a plain']);
    expect(await after(change('VirtualMachineInstancetype', 'n'))).toEqual(['vm/n/b/b plain']);
    expect(await after(change('VirtualMachineInstancetype', 'other'))).toEqual([]);
  });

  test('that says the same as before wakes nobody, nor one that goes', async () => {
    const came = change('VirtualMachineClusterInstancetype');
    expect(await after({ ...came, before: came.after })).toEqual([]);
    expect(await after({ kind: came.kind, before: came.after })).toEqual([]);
  });
});

test('insisting tells again what was acknowledged', async () => {
  const { bridge, sent, after } = bridgeWith();
  await after({ kind: 'VirtualMachine', after: vm() });
  const [delivery] = sent;
  bridge.insist(delivery === undefined ? [] : [delivery]);
  await until('it is delivered again', () => sent.length === 2);
});

test.each([['none'], [{ name: 'x' }], [[null, 'x', { name: 'x' }]], [undefined]])(
  'a VMI whose volumes are %j keeps no other from being woken',
  async (volumes) => {
    const broken = { ...vmi('Pending', { name: 'broken', uid: 'i2' }), spec: { volumes } };
    const { after } = bridgeWith([broken as unknown as ReturnType<typeof vmi>, vmi('Pending')]);
    const told = await after({ kind: 'PersistentVolumeClaim', after: claim('claim', 'Bound') });
    expect(told).toEqual([`${instance} plain`]);
  },
);

const migration = 'migration/n/m/m1';
const kind = 'VirtualMachineInstanceMigration';

test('a migration is told to its own workflow, and not what that has written itself', async () => {
  const { after } = bridgeWith();
  expect(await after({ kind, after: vmim('', { finalizers: [] }) })).toEqual([`${migration} ownMigration`]);
  expect(await after({ kind, after: vmim('Pending') }, { kind, after: vmim('Running') })).toEqual([]);
});

test('that a migration is being deleted is told: it cancels', async () => {
  const { after } = bridgeWith();
  await after({ kind, after: vmim('Running') });
  const deleting = vmim('Running', { deletionTimestamp: '2026-01-01T00:00:09Z' });
  expect(await after({ kind, after: deleting })).toEqual([`${migration} ownMigration`]);
});

test('a migration that is over is nobody’s business, until it is gone', async () => {
  const { after } = bridgeWith();
  const over = vmim('Succeeded', { finalizers: [] });
  expect(await after({ kind, after: over })).toEqual([]);
  expect(await after({ kind, before: over })).toEqual([`${migration} ownMigration`]);
});

test('the scheduler of migrations is told of a configuration, and of no other change', async () => {
  const { after } = bridgeWith([]);
  const kubevirt = (resourceVersion: string) =>
    ({ metadata: { name: 'kubevirt', resourceVersion }, spec: { imagePullPolicy: 'Always' } }) as const;
  expect(await after({ kind: 'KubeVirt', after: kubevirt('1') })).toEqual(['migration-scheduler plain']);
  expect(await after({ kind: 'KubeVirt', before: kubevirt('1'), after: kubevirt('2') })).toEqual([]);
});

test('a node is told once, its heartbeats never, their absence once', async () => {
  let now = Date.parse('2026-01-01T01:00:00Z');
  const { bridge, after, sent } = bridgeWith([], () => now);
  const beat = (time: string): WatchedChange => ({
    kind: 'Node',
    before: node('2026-01-01T00:59:00Z'),
    after: node(time),
  });
  const looked = async (): Promise<number> => {
    sent.length = 0;
    bridge.look(node('2026-01-01T01:00:30Z'));
    await until('the bridge is idle', () => bridge.backlog === 0);
    return sent.length;
  };
  expect(await after({ kind: 'Node', after: node('2026-01-01T00:59:00Z') })).toEqual(['node/a/n1 ownNode']);
  expect(await after(beat('2026-01-01T01:00:00Z'), beat('2026-01-01T01:00:30Z'))).toEqual([]);
  now += 5 * 60_000;
  expect(await looked()).toBe(0);
  now += 60_000;
  expect([await looked(), await looked()]).toEqual([1, 0]);
  expect(await after(beat('2026-01-01T01:05:59Z'))).toEqual(['node/a/n1 ownNode']);
  expect(await after({ kind: 'Node', before: node('2026-01-01T01:05:59Z') })).toEqual(['node/a/n1 ownNode']);
});

test('who is to leave a node is told to the workflow that empties it, however often it is told', async () => {
  const emptied = node('2026-01-01T01:00:00Z');
  const asked = vmi('Running', {}, { nodeName: 'a', evacuationNodeName: 'a' });
  const { after } = bridgeWith([asked], undefined, [emptied]);
  const told = await after({ kind: 'VirtualMachineInstance', after: asked });
  expect(told).toContain('evacuate/a/n1 ownEvacuation');
  expect(await after({ kind: 'VirtualMachineInstance', after: asked })).toEqual(['evacuate/a/n1 ownEvacuation']);
  const cordoned = { ...emptied, spec: { unschedulable: true } };
  expect(await after({ kind: 'Node', before: emptied, after: cordoned })).toContain('evacuate/a/n1 ownEvacuation');
});

test('a node that has never had a worker is nobody’s business', async () => {
  const { after } = bridgeWith([]);
  expect(await after({ kind: 'Node', after: node() })).toEqual([]);
});
