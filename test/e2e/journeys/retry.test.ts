import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import type { OperationView, VmHistory } from '../../../cli/history/model.ts';
import { until } from '../../support/until.ts';
import { apply, kubectl, virtflow } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { SHARED_DIRECTORY, guestSpec } from '../support/vms.ts';

jest.setTimeout(180_000);

const NAMESPACE = 'virtflow-retry';
const started = new Date();

const applyVm = async (name: string, volume: object): Promise<void> => {
  const spec = guestSpec({
    change: (changed) => {
      changed.domain.devices.disks = [{ name: 'data', disk: { bus: 'virtio' } }];
      changed.volumes = [{ name: 'data', ...volume }];
    },
  });
  const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, namespace: NAMESPACE } };
  await apply({ ...vm, spec: { runStrategy: 'Always', template: { spec } } });
};

/** Operations of this run of the test, oldest first. */
const operations = async (name: string): Promise<OperationView[]> => {
  const text = await virtflow(['history', name, '-n', NAMESPACE, '-o', 'json']);
  return (JSON.parse(text) as VmHistory).operations.filter(({ startedAt }) => new Date(startedAt) >= started);
};
const lastStep = async (name: string) => (await operations(name)).at(-1)?.status?.steps.at(-1);
const label = (level: string): Promise<string> =>
  kubectl(['label', 'namespace', NAMESPACE, `pod-security.kubernetes.io/enforce=${level}`, '--overwrite']);

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  await label('restricted');
  await applyVm('waiting', { persistentVolumeClaim: { claimName: 'nowhere' } });
  const path = `${SHARED_DIRECTORY}/${NAMESPACE}/disk.img`;
  await applyVm('failing', { hostDisk: { path, type: 'DiskOrCreate', capacity: '16Mi' } });
});
afterAll(async () => {
  await label('privileged');
  await emptyNamespace(NAMESPACE);
});

test('virtflow retry ends the wait of a step at once', async () => {
  const waiting = await until(
    'a wait of half a minute or more, of which most is left',
    async () => {
      const step = await lastStep('waiting');
      const left = Date.parse(step?.nextTryAt ?? '') - Date.now();
      return step?.state === 'waiting' && left > 25_000 ? step : undefined;
    },
    { timeoutMs: 150_000, everyMs: 300 },
  );
  expect(waiting).toMatchObject({ name: 'CheckVolumes', failure: { type: 'VolumeNotFound' } });
  expect(await virtflow(['retry', 'waiting', '-n', NAMESPACE])).toContain('step CheckVolumes is tried again now');
  await until('another try', async () => ((await lastStep('waiting'))?.attempts ?? 0) > waiting.attempts, {
    timeoutMs: 20_000,
    everyMs: 200,
  });
  const table = await virtflow(['history', 'waiting', '-n', NAMESPACE]);
  for (const text of ['VolumeNotFound', `${NAMESPACE}/nowhere does not exist`, 'next try'])
    expect(table).toContain(text);
});

test('virtflow retry starts a new attempt of the operation that failed, which names it', async () => {
  const [first] = await until(
    'the start failed',
    async () => {
      const all = await operations('failing');
      return all[0]?.state === 'failed' ? all : undefined;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  expect(first?.status?.failure).toMatchObject({ type: 'Forbidden' });
  await label('privileged');
  expect(await virtflow(['retry', 'failing', '-n', NAMESPACE])).toMatch(/started vmi-start\/.+\/2\./);
  const second = await until(
    'the second attempt created the launcher Pod',
    async () => {
      const operation = (await operations('failing')).at(-1);
      const created = operation?.status?.steps.find(({ name }) => name === 'CreateLauncherPod');
      return created?.state === 'done' ? operation : undefined;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  expect(second.status?.retryOf).toBe(first?.workflowId);
  expect(await virtflow(['history', 'failing', '-n', NAMESPACE])).toContain(`retries ${first?.workflowId}`);
});

test('virtflow retry says why there is nothing to retry', async () => {
  await kubectl(['delete', 'vm', 'failing', '-n', NAMESPACE, '--wait', '--timeout=120s']);
  const gone = await execa('virtflow', ['retry', 'failing', '-n', NAMESPACE], { reject: false });
  expect(gone.exitCode).toBe(1);
  expect(gone.stderr).toMatch(/^virtflow: there is no VirtualMachine.* "failing" in namespace "virtflow-retry" .*$/);
  await virtflow(['stop', 'waiting', '-n', NAMESPACE, '--wait']);
  const stopped = await execa('virtflow', ['retry', 'waiting', '-n', NAMESPACE], { reject: false });
  expect(stopped.stderr).toMatch(/^virtflow: waiting has no instance.*use virtflow start/);
});
