import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { AUTHORITY_SECRET, BUNDLE_CONFIG_MAP } from '../../../api/contract/certificates.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { instanceId, virtualMachineId } from '../../../api/contract/refs.ts';
import type { KubeVirt, VirtualMachine } from '../../../api/kubevirt/types.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { startTemporalServer } from '../../support/temporal-server.ts';
import { until } from '../../support/until.ts';

/** The controller worker as a process of its own, between a real API server and a real Temporal; no node, so that Pods stay pending. */
const root = join(import.meta.dirname, '../../..');
const dir = mkdtempSync(join(tmpdir(), 'virtflow-worker-'));
const logFile = join(dir, 'worker.log');
const bundleFile = join(dir, 'workflow-bundle.js');
const health = { port: 18480, metrics: 18481 };
const kubeVirtName = { namespace: 'default', name: 'kubevirt' };
const slow = { timeoutMs: 90_000, everyMs: 200 };

let api: TestApiServer;
let temporal: TestTemporalServer;
let kube: KubePort;
let worker: ChildProcess | undefined;

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  KUBECONFIG: api.kubeconfigFile,
  TEMPORAL_ADDRESS: temporal.address,
  LAUNCHER_IMAGE: 'virtflow/launcher:test',
  VIRTFLOW_WORKFLOW_BUNDLE: bundleFile,
  POD_NAME: 'controller-1',
  POD_NAMESPACE: 'default',
  HEALTH_PORT: String(health.port),
  TEMPORAL_METRICS_PORT: String(health.metrics),
  HTTPS_PORT: '0',
  SWEEP_SECONDS: '2',
});
const run = (script: string[], log: number): ChildProcess =>
  spawn(process.execPath, script, { cwd: root, env: environment(), stdio: ['ignore', log, log] });
const startWorker = (): void => {
  const log = openSync(logFile, 'a');
  worker = run(['--import=./workers/controller/workflow-thread/lean.ts', 'workers/controller/main.ts'], log);
  closeSync(log);
};
const endWorker = async (signal: NodeJS.Signals): Promise<number | null> => {
  if (worker === undefined || worker.exitCode !== null || worker.signalCode !== null) return null;
  const ended = once(worker, 'exit');
  worker.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
};
const setUpTemporal = async (): Promise<void> => {
  const log = openSync(logFile, 'a');
  const [code] = (await once(run(['cli/main.ts', 'temporal', 'setup'], log), 'exit')) as [number];
  closeSync(log);
  expect(code).toBe(0);
};
const readiness = async (): Promise<
  { ready: boolean; checks: Record<string, { ok: boolean; detail: string }> } | undefined
> => {
  const response = await fetch(`http://127.0.0.1:${health.port}/readyz`).catch(() => undefined);
  return (await response?.json()) as Awaited<ReturnType<typeof readiness>>;
};
const isReady = () => until('the worker is ready', async () => (await readiness())?.ready, slow);
const said = (text: string): boolean => readFileSync(logFile, 'utf8').includes(text);

const newVm = async (name: string): Promise<ObjectRef> => {
  const spec = { domain: { memory: { guest: '64Mi' }, devices: {} }, terminationGracePeriodSeconds: 3 };
  const vm: VirtualMachine = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name },
    spec: { runStrategy: 'Always', template: { spec } },
  };
  return refOf(await kube.create('VirtualMachine', vm));
};
const launcherPodOf = (vm: ObjectRef) =>
  until(
    `${vm.name} has a launcher Pod`,
    async () => {
      const vmi = await kube.get('VirtualMachineInstance', vm);
      const pods = await kube.list('Pod', {
        namespace: vm.namespace,
        labelSelector: `kubevirt.io/created-by=${vmi?.metadata?.uid}`,
      });
      return pods[0];
    },
    slow,
  );
const gone = (vm: ObjectRef) =>
  until(`${vm.name} is gone`, async () => (await kube.get('VirtualMachine', vm)) === undefined, slow);

beforeAll(async () => {
  writeFileSync(bundleFile, (await bundleWorkflowCode({ workflowsPath: join(root, 'workflows/index.ts') })).code);
  [api, temporal] = await Promise.all([startApiServer(), startTemporalServer()]);
  kube = kubeClient(api.rest);
  // No interface in the spec means masquerade, as deploy/ sets it.
  const spec = { configuration: { network: { defaultNetworkInterface: 'masquerade' } } };
  const body = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: kubeVirtName, spec };
  await api.rest.send({ method: 'POST', path: '/apis/kubevirt.io/v1/namespaces/default/kubevirts', body });
  // deploy/ has both, empty.
  await kube.create('Secret', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...kubeVirtName, name: AUTHORITY_SECRET },
  });
  const bundle = { ...kubeVirtName, name: BUNDLE_CONFIG_MAP };
  await kube.create('ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: bundle });
  startWorker();
}, 180_000);
afterAll(async () => {
  await endWorker('SIGKILL');
  await temporal.close();
  await api.close();
  rmSync(dir, { recursive: true });
}, 30_000);

test('without namespace and search attributes it is not ready and says which command makes them', async () => {
  const answer = await until(
    'it has asked',
    async () => {
      const report = await readiness();
      return report?.checks['temporal']?.detail.includes('namespace') === true ? report : undefined;
    },
    slow,
  );
  expect(answer.ready).toBe(false);
  expect(answer.checks['temporal']?.detail).toMatch(/no namespace virtflow.*virtflow temporal setup/);
  expect(said('virtflow temporal setup')).toBe(true);
  await setUpTemporal();
  await isReady();
}, 180_000);

test('a VM leads to its VMI and launcher Pod, and its status tells', async () => {
  const vm = await newVm('web');
  const pod = await launcherPodOf(vm);
  expect(pod.metadata?.ownerReferences).toMatchObject([
    { kind: 'VirtualMachineInstance', name: 'web', controller: true },
  ]);
  const status = await until(
    'the VM shows it',
    async () => {
      const object = await kube.get('VirtualMachine', vm);
      return object?.status?.created === true ? object.status : undefined;
    },
    slow,
  );
  expect(status).toMatchObject({ printableStatus: 'Starting', ready: false, observedGeneration: 1 });
}, 120_000);

test('a migration of a VM that does not run is refused, and its object says why', async () => {
  const kind = 'VirtualMachineInstanceMigration';
  const vmim = refOf(
    await kube.create(kind, {
      apiVersion: 'kubevirt.io/v1',
      kind,
      metadata: { namespace: 'default', name: 'web-moves' },
      spec: { vmiName: 'web' },
    }),
  );
  const status = await until(
    'it has ended',
    async () => {
      const found = (await kube.get(kind, vmim))?.status;
      return found?.phase === 'Failed' ? found : undefined;
    },
    slow,
  );
  expect(status.conditions).toMatchObject([{ type: 'Failure', status: 'True', reason: 'NotMigratable' }]);
  expect(status.migrationState?.failureReason).toMatch(/only a running one can be migrated/);
  await kube.remove(kind, vmim, { uid: vmim.uid });
  expect(await kube.get(kind, vmim)).toBeUndefined();
}, 120_000);

test('kill -9 of the worker and of the API server in the middle of a start: the deletion that follows completes', async () => {
  const vm = await newVm('killed');
  await endWorker('SIGKILL');
  await api.restart();
  startWorker();
  const pod = await launcherPodOf(vm);
  await kube.remove('VirtualMachine', vm, { uid: vm.uid });
  await gone(vm);
  expect(await kube.get('Pod', { namespace: 'default', name: pod.metadata?.name ?? '' })).toBeUndefined();
  expect(await kube.get('Lease', { namespace: 'default', name: 'virtflow-killed' })).toBeUndefined();
}, 240_000);

test('an entity that was terminated is started again, and creates no second Pod', async () => {
  const vm = await newVm('terminated');
  const pod = await launcherPodOf(vm);
  const vmi = refOf((await kube.get('VirtualMachineInstance', vm)) ?? {});
  const connection = await Connection.connect({ address: temporal.address });
  const { workflow } = new Client({ connection, namespace: 'virtflow' });
  for (const id of [virtualMachineId(vm), instanceId(vmi)]) await workflow.getHandle(id).terminate('test');
  for (const id of [virtualMachineId(vm), instanceId(vmi)]) {
    await until(
      `${id} runs again`,
      async () => (await workflow.getHandle(id).describe()).status.name === 'RUNNING',
      slow,
    );
  }
  await connection.close();
  await kube.mergePatch('VirtualMachine', vm, { spec: { runStrategy: 'Halted' } });
  await until('the VMI is gone', async () => (await kube.get('VirtualMachineInstance', vm)) === undefined, slow);
  const pods = await kube.list('Pod', { namespace: 'default', labelSelector: `kubevirt.io/created-by=${vmi.uid}` });
  expect(pods.filter(({ metadata }) => metadata?.uid !== pod.metadata?.uid)).toEqual([]);
}, 240_000);

test('a KubeVirt object that cannot be read gets a condition that names the field; the last good one stays', async () => {
  const conditionOf = async (type: string) =>
    (await kube.get('KubeVirt', kubeVirtName))?.status?.conditions?.find(
      (condition: NonNullable<NonNullable<KubeVirt['status']>['conditions']>[number]) => condition.type === type,
    );
  await until('it is available', () => conditionOf('Available'), slow);
  await kube.mergePatch('KubeVirt', kubeVirtName, {
    spec: { configuration: { developerConfiguration: { useEmulation: true } } },
  });
  const newVersion = (await kube.get('KubeVirt', kubeVirtName))?.metadata?.generation;
  await until(
    'it is in force',
    async () => {
      const status = (await kube.get('KubeVirt', kubeVirtName))?.status;
      return status?.observedGeneration === newVersion;
    },
    slow,
  );
  // Of the right type, so that the API server takes it.
  const configuration = { additionalGuestMemoryOverheadRatio: 'much' };
  await kube.mergePatch('KubeVirt', kubeVirtName, { spec: { configuration } });
  const unreadable = await until('it is told', () => conditionOf('ConfigurationUnreadable'), slow);
  expect(unreadable.message).toMatch(/additionalGuestMemoryOverheadRatio/);
  const vm = await newVm('emulated');
  const pod = await launcherPodOf(vm);
  expect(JSON.stringify(pod.spec?.containers[0]?.resources)).not.toContain('devices.kubevirt.io/kvm');
}, 120_000);

test('Temporal wiped: every VM is taken up again, and can be deleted', async () => {
  const vm = await newVm('wiped');
  await launcherPodOf(vm);
  await temporal.restart({ wiped: true });
  await setUpTemporal();
  // The kubelet's part: a worker that ended because its namespace was gone is started again.
  if (worker?.exitCode !== null) startWorker();
  await kube.remove('VirtualMachine', vm, { uid: vm.uid });
  await gone(vm);
}, 240_000);

test('SIGTERM ends it with status 0', async () => {
  if (worker?.exitCode !== null) startWorker();
  await isReady();
  await expect(endWorker('SIGTERM')).resolves.toBe(0);
}, 120_000);
