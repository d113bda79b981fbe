import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { migrationId } from '../../../api/contract/refs.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { writesOfVirtflow } from '../support/audit.ts';
import { untilInstance } from '../support/instances.ts';
import { apply, kubectl, kubectlError } from '../support/kubectl.ts';
import { setMigrations } from '../support/migration-settings.ts';
import { untilTraceless } from '../support/migration-traces.ts';
import { createMigration, deleteMigrations, getMigration, untilMigration, untilOver } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { otherNode } from '../support/nodes.ts';
import { systemPods, untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { takeRoom } from '../support/room.ts';
import { freeSpace, limitSpace, takeSpace } from '../support/small-disk.ts';
import { claimDirectory, condition, createClaim, createVm, deleteVm, getVmi, NAMESPACE } from '../support/vms.ts';
import { SHARED_DIRECTORY, untilReady } from '../support/vms.ts';
import { workersFrozen } from '../support/workers.ts';
import { workflowSize } from '../support/workflows.ts';
import { DISKS, FINE, FULL, REFUSED, STOPPED, UNSCHEDULABLE_TIMEOUT } from './refused-migrations.ts';

jest.setTimeout(300_000);

/** A whole migration has less than 200 events; what is refused at once has a few. */
const FEW_EVENTS = 90;
/** Finalizer and labels, and status: each on and off, and a state in between. */
const FEW_WRITES = 6;
const undo: (() => Promise<unknown>)[] = [];
const started = new Date();
let before: object;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteMigrations();
  for (const vm of [DISKS, FULL, STOPPED, FINE]) await deleteVm(vm);
  await limitSpace(claimDirectory(FULL), '68m');
  await createClaim(DISKS, '16Mi', NAMESPACE, 'ReadWriteOnce');
  await createClaim(FULL);
  await createVm(FULL, { claim: FULL });
  await createVm(STOPPED, { runStrategy: 'Halted' });
  await createVm(FINE, { network: true });
  await createVm(DISKS, {
    claim: DISKS,
    change: ({ domain, volumes = [] }) => {
      domain.devices.disks?.push({ name: 'host', disk: { bus: 'virtio' } });
      const path = `${SHARED_DIRECTORY}/${NAMESPACE}-${DISKS}-host/disk.img`;
      volumes.push({ name: 'host', hostDisk: { path, type: 'DiskOrCreate', capacity: '16Mi' } });
    },
  });
  for (const vm of [FULL, FINE, DISKS]) await untilReady(vm);
  before = await undisturbed();
});

afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

afterAll(async () => {
  await deleteMigrations();
  for (const vm of [DISKS, FULL, STOPPED, FINE]) await deleteVm(vm);
  await freeSpace(claimDirectory(FULL));
});

/** Restarts of virtflow's own containers, and the QEMUs: what nothing here may change. */
async function undisturbed(): Promise<object> {
  const pods = [...(await systemPods('controller')), ...(await systemPods('node'))];
  const restarts = pods.map(({ metadata, status }) => [metadata?.name, status?.containerStatuses?.[0]?.restartCount]);
  const qemus = await Promise.all([DISKS, FULL, FINE].map((vm) => qemuProcesses(NAMESPACE, vm)));
  return { restarts: Object.fromEntries(restarts) as object, qemus: qemus.flat().map(({ pid }) => pid) };
}

const vmim = (name: string, spec: object, annotations: Record<string, string> = {}): object => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceMigration', spec },
  metadata: { name, namespace: NAMESPACE, annotations },
});
const ask = (...given: Parameters<typeof vmim>): Promise<string> => apply(vmim(...given));

/** What admission says. */
const refusedAtOnce = (...given: Parameters<typeof vmim>): Promise<string> =>
  kubectlError(['create', '-f', '-'], JSON.stringify(vmim(...given)));

/** What a VMIM that failed says: its condition, and KubeVirt's field. And it is over: nothing of it goes on. */
async function refusal(name: string, timeoutMs = 60_000): Promise<{ reason: string; message: string }> {
  const { status } = await untilOver(name, timeoutMs);
  expect(status?.phase).toBe('Failed');
  const { reason = '', message = '' } = status?.conditions?.find(({ type }) => type === 'Failure') ?? {};
  expect(status?.migrationState?.failureReason).toBe(message);
  await untilMigration('nothing holds the object', name, ({ metadata }) => (metadata?.finalizers ?? []).length === 0);
  return { reason, message };
}

describe('a migration that cannot be is refused, at once or on its object, with the remedy', () => {
  test.each(REFUSED)('$what', async ({ name, spec, annotations, reason, says }) => {
    if (reason === undefined) {
      const refused = await refusedAtOnce(name, spec, annotations);
      for (const text of says) expect(refused).toContain(text);
      expect(await getMigration(name)).toBeUndefined();
      return;
    }
    await ask(name, spec, annotations);
    const refused = await refusal(name);
    expect(refused.reason).toBe(reason);
    for (const text of says) expect(refused.message).toContain(text);
  });

  test('a VM that an I/O error has paused', async () => {
    await takeSpace(claimDirectory(FULL), 4 * 1024 * 1024);
    // Later, so that the agent has answered before its guest stands still.
    const fill = 'sleep 8; dd if=/dev/urandom of=/data/fill bs=64k count=400; sync';
    await runInGuest(createContext(), { namespace: NAMESPACE, name: FULL }, `(${fill}) >/dev/null 2>&1 </dev/null &`);
    const isPaused = (vmi: Parameters<typeof condition>[0]) => condition(vmi, 'Paused')?.reason === 'PausedIOError';
    await untilInstance('paused by an I/O error', NAMESPACE, FULL, isPaused, 60_000);
    await ask('of-full', { vmiName: FULL });
    const refused = await refusal('of-full');
    expect(refused).toMatchObject({ reason: 'NotMigratable' });
    for (const text of ['I/O error', 'unpause']) expect(refused.message).toContain(text);
  });

  test('a VM that is being migrated', async () => {
    undo.push(await setMigrations({ bandwidthPerMigration: '1Mi' }));
    await createMigration('first', FINE);
    await untilMigration('Running', 'first', ({ status }) => status?.phase === 'Running');
    const refused = await refusedAtOnce('second', { vmiName: FINE });
    for (const text of ['spec.vmiName', 'migration "first"', 'wait for it, or delete it'])
      expect(refused).toContain(text);
    await kubectl(['delete', 'vmim', 'first', '-n', NAMESPACE, '--wait', '--timeout=30s']);
    await untilTraceless(FINE);
  });

  test('no second node', async () => {
    const other = otherNode((await getVmi(FINE))?.status?.nodeName ?? '');
    // Its worker would say at its next heartbeat that it serves.
    undo.push(await workersFrozen(other));
    await kubectl(['label', 'node', other, 'kubevirt.io/schedulable=false', '--overwrite']);
    undo.push(() => kubectl(['label', 'node', other, 'kubevirt.io/schedulable=true', '--overwrite']));
    await ask('to-no-node', { vmiName: FINE });
    const refused = await refusal('to-no-node');
    expect(refused).toMatchObject({ reason: 'NotMigratable' });
    for (const text of ['no other node', 'kubevirt.io/schedulable=true', 'Add a node'])
      expect(refused.message).toContain(text);
  });

  test.each([
    { what: 'cordoned', limit: (node: string) => cordon(node), says: 'unschedulable' },
    { what: 'full', limit: (node: string) => takeRoom(node, 128, NAMESPACE), says: 'Insufficient memory' },
  ])('the other node is $what, until the time is over', async ({ what, limit, says }) => {
    undo.push(await limit(otherNode((await getVmi(FINE))?.status?.nodeName ?? '')));
    await ask(`to-${what}`, { vmiName: FINE }, { [UNSCHEDULABLE_TIMEOUT]: '5' });
    const refused = await refusal(`to-${what}`);
    expect(refused).toMatchObject({ reason: 'DeadlineExceeded' });
    for (const text of ['virt-launcher-', '5 s', says]) expect(refused.message).toContain(text);
    await untilTraceless(FINE);
  });

  test('none of them is tried endlessly', async () => {
    const all = JSON.parse(await kubectl(['get', 'vmim', '-n', NAMESPACE, '-o', 'json'])) as {
      items: { metadata: { name: string; uid: string } }[];
    };
    expect(all.items.length).toBeGreaterThan(2);
    const writes = await writesOfVirtflow(NAMESPACE, started);
    for (const { metadata } of all.items) {
      const { name, uid } = metadata;
      const size = await workflowSize(migrationId({ namespace: NAMESPACE, name, uid }));
      expect(size).toMatchObject({ isOpen: false });
      expect(size.events).toBeLessThan(name.startsWith('to-') ? 3 * FEW_EVENTS : FEW_EVENTS);
      const own = writes.filter((one) => one.name === name && one.resource.includes('migrations'));
      expect(own.length).toBeLessThanOrEqual(FEW_WRITES);
    }
  });

  test('nothing else was disturbed, and it can be migrated now', async () => {
    expect(await undisturbed()).toEqual(before);
    await createMigration('at-last', FINE);
    expect((await untilOver('at-last')).status?.phase).toBe('Succeeded');
    await untilTraceless(FINE);
  });
});

async function cordon(node: string): Promise<() => Promise<string>> {
  await kubectl(['cordon', node]);
  return () => kubectl(['uncordon', node]);
}
