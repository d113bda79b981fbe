import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { execa } from 'execa';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { MigrationReport } from '../../../api/contract/migrations.ts';
import type { OperationStatus } from '../../../api/contract/operations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import { instanceId, migrationId } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { migrationsOf, refOf } from '../../../cli/migration/objects.ts';
import type { MigrationSummary } from '../../../cli/migration/summary.ts';
import type { Diagnosis } from '../../../cli/diagnose/walk.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { startTemporalServer } from '../../support/temporal-server.ts';
import { bundleWorkflows } from '../../support/temporal.ts';
import { until } from '../../support/until.ts';

/** The command itself, against a real API server and a real Temporal; the test plays the controller. */
const KIND = 'VirtualMachineInstanceMigration';
const namespace = 'default';
const NAME = { namespace, name: 'web' };
const NOWHERE = '127.0.0.1:1';
const FINALIZER = 'kubevirt.io/migrationJobFinalize';
const PROGRESS = {
  ...{ mode: 'PreCopy' as const, elapsedMs: 900, totalBytes: 2 ** 30, processedBytes: 300 * 2 ** 20 },
  ...{ remainingBytes: 2 ** 28, iterations: 2, transferRate: 100 * 2 ** 20 },
};

let server: TestApiServer;
let temporal: TestTemporalServer;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let kube: KubePort;
let worker: Worker;
let running: Promise<void>;
let vmiUid: string;

beforeAll(async () => {
  [server, temporal] = await Promise.all([startApiServer(), startTemporalServer()]);
  connection = await Connection.connect({ address: temporal.address });
  client = new Client({ connection });
  kube = kubeClient(server.rest);
  native = await NativeConnection.connect({ address: temporal.address });
  worker = await Worker.create({
    ...{ connection: native, taskQueue: 'toys', maxHeartbeatThrottleInterval: '100ms' },
    workflowBundle: await bundleWorkflows('test/integration/cli/toys.workflows.ts'),
    activities: {
      migrateVMI: async (): Promise<void> => {
        const { heartbeat, cancellationSignal } = Context.current();
        for (; !cancellationSignal.aborted; await Context.current().sleep(100)) heartbeat(PROGRESS);
      },
    },
  });
  running = worker.run();
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  await kube.create('Node', {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-b', labels: { zone: 'east' } }, status: ready },
  });
  await kube.mergePatch('Node', { name: 'node-b' }, { status: ready }, { subresource: 'status' });
  const spec = { domain: { devices: {} } };
  await kube.create('VirtualMachine', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: NAME },
    spec: { runStrategy: 'Always', template: { spec } },
  });
  const vmi = await kube.create('VirtualMachineInstance', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: NAME, spec },
    status: { phase: 'Running', nodeName: 'node-a', conditions: [{ type: 'LiveMigratable', status: 'True' }] },
  });
  vmiUid = vmi.metadata?.uid ?? '';
}, 180_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await Promise.all([connection.close(), native.close()]);
  await Promise.all([server.close(), temporal.close()]);
}, 30_000);
afterEach(async () => {
  for (const { metadata } of await migrationsOf(kube, NAME)) {
    const { name = '', uid = '' } = metadata ?? {};
    await kube.mergePatch(KIND, { namespace, name }, { metadata: { finalizers: null } });
    await kube.remove(KIND, { namespace, name }, { uid });
  }
});

/** Runs the command line; without a terminal, as in a script. */
const virtflow = (args: string[], address = NOWHERE) =>
  execa(process.execPath, [fileURLToPath(new URL('../../../cli/main.ts', import.meta.url)), ...args], {
    env: { KUBECONFIG: server.kubeconfigFile, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' },
    reject: false,
  });

/** What a command has said so far. */
function listen({ stderr }: ReturnType<typeof virtflow>): () => string {
  let text = '';
  stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/** The migration that the command has asked for. */
const created = (): Promise<VirtualMachineInstanceMigration> =>
  until('a migration', async () => (await migrationsOf(kube, NAME)).at(-1));

const publish = (migration: VirtualMachineInstanceMigration, status: VirtualMachineInstanceMigration['status']) =>
  kube.mergePatch(KIND, refOf(migration), { status }, { subresource: 'status' });

const phases = (...names: string[]) => ({
  phase: names.at(-1) ?? '',
  phaseTransitionTimestamps: names.map((phase, n) => ({
    phase,
    phaseTransitionTimestamp: new Date(Date.UTC(2026, 0, 1, 12, 0, n)).toISOString(),
  })),
});

test('without Temporal a migration is asked for, followed by its phases and told at the end', async () => {
  const command = virtflow(['migrate', 'web', '--node-selector', 'zone=east']);
  const told = listen(command);
  const migration = await created();
  expect(migration).toMatchObject({
    metadata: { labels: { 'kubevirt.io/vmi-name': 'web' } },
    spec: { vmiName: 'web', addedNodeSelector: { zone: 'east' } },
  });
  expect(migration.metadata?.name).toMatch(/^kubevirt-migrate-vm-/);
  await publish(migration, phases('Pending', 'Running'));
  await until('Running is told', () => told().includes('Running'), { everyMs: 100 });
  const migrationState = { migrationUid: migration.metadata?.uid ?? '', sourceNode: 'node-a', targetNode: 'node-b' };
  await publish(migration, { ...phases('Pending', 'Running', 'Succeeded'), migrationState });
  const { exitCode, stdout } = await command;
  expect(exitCode).toBe(0);
  for (const part of ['Pending', '1.0 s', 'in all', '2.0 s', 'node-a', 'node-b']) expect(stdout).toContain(part);
});

test('with Temporal the progress of the transfer is told, and its numbers at the end', async () => {
  const command = virtflow(['migrate', 'web', '-o', 'json'], temporal.address);
  const told = listen(command);
  const migration = await created();
  const report: MigrationReport = {
    ...{
      migration: refOf(migration),
      phase: 'Running',
      phaseTimes: [{ phase: 'Pending', at: '2026-01-01T12:00:00Z' }],
    },
    source: { name: 'a', uid: 'a', node: 'node-a' },
    target: { name: 'b', uid: 'b', node: 'node-b' },
  };
  const status: OperationStatus = {
    ...{ kind: 'migrate', steps: [], vmi: { ...NAME, uid: vmiUid }, attempt: 1, phase: 'Running', migration: report },
  };
  const workflow = await client.workflow.start(WORKFLOWS.migrateInstance, {
    ...{ taskQueue: 'toys', workflowId: migrationId(refOf(migration)), args: [status] },
  });
  await publish(migration, phases('Pending', 'Running'));
  await until('progress is told', () => told().includes('300 MiB sent, 256 MiB of 1.0 GiB left · pass 2 · 100 MiB/s'), {
    everyMs: 100,
    timeoutMs: 20_000,
  });
  expect(told()).toContain('Running (node-a → node-b)');
  const endedAt = '2026-01-01T12:00:03Z';
  const numbers = { ...PROGRESS, downtimeMs: 85, iterations: 3 };
  const over = [...report.phaseTimes, { phase: 'Succeeded' as const, at: endedAt }];
  await workflow.signal('finish', { ...report, phase: 'Succeeded', phaseTimes: over, numbers, endedAt });
  await publish(migration, phases('Pending', 'Running', 'Succeeded'));
  const { exitCode, stdout } = await command;
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout) as MigrationSummary).toMatchObject({
    ...{ outcome: 'succeeded', source: 'node-a', target: 'node-b', downtimeMs: 85, iterations: 3 },
    phases: [{ phase: 'Pending', tookMs: 3000 }, { phase: 'Succeeded' }],
  });
});

test('a migration that failed ends with its reason, what to do, and an exit code', async () => {
  const command = virtflow(['migrate', 'web']);
  const migration = await created();
  const conditions = [{ type: 'Failure', status: 'True', reason: 'PeerUnreachable', message: 'node-b is silent' }];
  await publish(migration, { ...phases('Pending', 'Failed'), conditions });
  const { exitCode, stderr } = await command;
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^virtflow: migration default\/kubevirt-migrate-vm-\w+ of web failed: PeerUnreachable: node-b is silent\. The guest runs on node-a\. What to do: see that both/m,
  );
});

test('a VM that cannot be migrated is refused before anything is created', async () => {
  await kube.create(KIND, {
    ...{ apiVersion: 'kubevirt.io/v1', kind: KIND, metadata: { namespace, name: 'mine' }, spec: { vmiName: 'web' } },
  });
  const refused = await virtflow(['migrate', 'web']);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    /^virtflow: VirtualMachineInstance default\/web is already being migrated by .*default\/mine \(Pending\)/,
  );
  expect(await migrationsOf(kube, NAME)).toHaveLength(1);
  await kube.remove(KIND, { namespace, name: 'mine' }, { uid: (await created()).metadata?.uid ?? '' });
  const nowhere = await virtflow(['migrate', 'web', '--node-selector', 'zone=mars']);
  expect(nowhere.stderr).toMatch(/^virtflow: no node other than node-a has the labels zone=mars: nothing was created/);
  expect(await migrationsOf(kube, NAME)).toHaveLength(0);
  expect((await virtflow(['migrate', 'web', '--timeout', '0'])).stderr).toMatch(/1 or more/);
  expect((await virtflow(['migrate', 'absent'])).stderr).toMatch(/^virtflow: there is no VirtualMachine/);
});

test('one can ask and not wait', async () => {
  const { exitCode, stdout } = await virtflow(['migrate', 'web', '--wait=false', '-o', 'json']);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual(refOf(await created()));
});

test('cancel deletes the unfinished migration and tells what became of it', async () => {
  await kube.create(KIND, {
    ...{ apiVersion: 'kubevirt.io/v1', kind: KIND, spec: { vmiName: 'web' } },
    metadata: { namespace, name: 'mine', finalizers: [FINALIZER] },
  });
  const command = virtflow(['cancel', 'web']);
  const deleted = await until('it is being deleted', async () =>
    (await migrationsOf(kube, NAME)).find(({ metadata }) => metadata?.deletionTimestamp !== undefined),
  );
  const migrationState = { migrationUid: deleted.metadata?.uid ?? '', abortStatus: 'Succeeded', failed: true };
  await publish(deleted, { ...phases('Pending', 'Failed'), migrationState });
  await kube.mergePatch(KIND, refOf(deleted), { metadata: { finalizers: null } });
  const { exitCode, stderr } = await command;
  expect(stderr).toContain('mine is cancelled; web runs on node-a');
  expect(exitCode).toBe(0);
  const again = await virtflow(['cancel', 'web']);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toBe('virtflow: web is not being migrated: there is nothing to cancel.');
});

test('retry repeats a failed migration by a new object that names it', async () => {
  const failed = await kube.create(KIND, {
    ...{ apiVersion: 'kubevirt.io/v1', kind: KIND, metadata: { namespace, name: 'first' } },
    spec: { vmiName: 'web', addedNodeSelector: { zone: 'east' } },
  });
  await publish(failed, phases('Pending', 'Failed'));
  const entity = await client.workflow.start(WORKFLOWS.virtualMachineInstance, {
    ...{ taskQueue: 'toys', workflowId: instanceId({ ...NAME, uid: vmiUid }), args: [] },
  });
  const { stdout, exitCode } = await virtflow(['retry', 'web'], temporal.address);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/created, which retries first\./);
  const again = (await migrationsOf(kube, NAME)).find(({ metadata }) => metadata?.name !== 'first');
  expect(again).toMatchObject({
    metadata: { annotations: { 'virtflow.io/retry-of': 'first' } },
    spec: { vmiName: 'web', addedNodeSelector: { zone: 'east' } },
  });
  await entity.terminate();
});

test('diagnose goes as far as it can without Temporal, and names what it could not ask', async () => {
  const { exitCode, stdout } = await virtflow(['diagnose', 'web', '-o', 'json']);
  expect(exitCode).toBe(0);
  const { sentence, stages, unasked } = JSON.parse(stdout) as Diagnosis;
  expect(sentence).toMatch(/^web runs on node-a/);
  expect(stages.map(({ stage }) => stage)).toContain('agent');
  expect(unasked).toEqual([expect.stringMatching(/^Temporal: Temporal at 127\.0\.0\.1:1 cannot be reached/)]);
});

test('diagnose asks Temporal too, and knows an instance that nobody looks after', async () => {
  const { stdout } = await virtflow(['diagnose', 'web', '-o', 'json'], temporal.address);
  expect((JSON.parse(stdout) as Diagnosis).unasked).toEqual([]);
});
