import { once } from 'node:events';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { virtflowClient } from '../../../client/index.ts';
import type { VirtflowClient } from '../../../client/index.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { listObjects } from '../support/kubectl.ts';
import { deleteMigrations } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { systemPods, untilSystemReady } from '../support/pods.ts';
import { NAMESPACE, createVm, deleteVm, getVm, getVmi, untilRunning } from '../support/vms.ts';

jest.setTimeout(300_000);

/** The example service as a process of its own, before the cluster's Temporal. */
const NAME = 'maintained';
const root = join(import.meta.dirname, '../../..');
let port: number;
let service: ChildProcess;
let connection: Connection;
let virtflow: VirtflowClient;

const http = async (method: string, path: string, key?: string) => {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
  return {
    status: response.status,
    location: response.headers.get('location') ?? '',
    body: (await response.json()) as object,
  };
};
const ask = (action: string, key: string) => http('POST', `/vms/${NAMESPACE}/${NAME}/${action}`, key);
const outcome = (location: string) =>
  until(
    'its outcome',
    async () => {
      const { body } = await http('GET', `${location}?wait=30`);
      return 'outcome' in body && body.outcome !== 'underWay' ? body : undefined;
    },
    { timeoutMs: 180_000 },
  );
const uidOf = async () => (await getVmi(NAME))?.metadata?.uid;
const nodeOf = async () => (await getVmi(NAME))?.status?.nodeName;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await deleteMigrations();
  await deleteVm(NAME);
  port = await freePort();
  service = spawn(process.execPath, ['--no-warnings', 'examples/maintenance/main.ts'], {
    ...{ cwd: root, env: { ...process.env, PORT: String(port) }, stdio: 'inherit' },
  });
  const { connectionOptions, namespace = 'virtflow' } = loadClientConnectConfig();
  connection = await Connection.connect(connectionOptions);
  virtflow = virtflowClient(new Client({ connection, namespace }));
  await createVm(NAME);
  await untilRunning(NAME);
  await until(
    'the service serves',
    () =>
      http('GET', '/').then(
        () => true,
        () => false,
      ),
    { timeoutMs: 30_000 },
  );
});
afterAll(async () => {
  await deleteVm(NAME);
  await connection.close();
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
});

test('a restart is accepted at once and done once for its key, although the controller is killed in the middle', async () => {
  const first = await uidOf();
  const [one, two] = await Promise.all([ask('restart', 'night-1'), ask('restart', 'night-1')]);
  expect(one).toMatchObject({
    status: 202,
    location: expect.stringMatching(/^\/operations\/trigger\/.+\/restart\/night-1$/),
  });
  expect(two).toEqual(one);
  const [controller] = await systemPods('controller');
  await killInPod(controller?.metadata?.uid ?? '', /workers\/controller\/main\.ts/);
  const ended = await outcome(one.location);
  await untilSystemReady();
  const second = await uidOf();
  expect(second).not.toBe(first);
  expect(ended).toMatchObject({ outcome: 'succeeded', instance: second });
  expect((await ask('restart', 'night-1')).location).toBe(one.location);
  expect(await outcome(one.location)).toEqual(ended);
  expect(await uidOf()).toBe(second);
});

test('a migration is one object for its key, and ends on another node', async () => {
  const from = await nodeOf();
  const accepted = await ask('migrate', 'night-1');
  expect(accepted.status).toBe(202);
  const ended = await outcome(accepted.location);
  await ask('migrate', 'night-1');
  const made = await listObjects<VirtualMachineInstanceMigration>('vmim', NAMESPACE);
  expect(made.filter(({ spec }) => spec.vmiName === NAME)).toHaveLength(1);
  expect(ended).toMatchObject({ outcome: 'succeeded', vmim: { name: made[0]?.metadata?.name } });
  expect(await nodeOf()).not.toBe(from);
});

test('another service stops it, and what it does not take then is refused with the reason', async () => {
  const vm = virtflow.virtualMachine({ namespace: NAMESPACE, name: NAME });
  const stop = await vm.stop({ gracePeriod: 5 });
  expect(await stop.outcome()).toMatchObject({ outcome: 'succeeded' });
  expect((await getVm(NAME))?.spec.runStrategy).toBe('Halted');
  await expect(vm.restart()).rejects.toMatchObject({ code: 'Refused' });
  expect(await ask('restart', 'night-2')).toMatchObject({ status: 409 });
  expect(await http('POST', `/vms/${NAMESPACE}/nobody/restart`, 'night-1')).toMatchObject({ status: 404 });
  const start = await vm.start();
  expect(await start.outcome()).toMatchObject({ outcome: 'succeeded', instance: await uidOf() });
});
