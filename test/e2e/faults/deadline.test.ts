import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { lastOperation } from '../support/history.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { killProcess, startProcess } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { systemPods, untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { createVm, deleteVm, NAMESPACE, setRunStrategy, untilReady, untilStopped } from '../support/vms.ts';

const VM = 'deadline';
const GRACE_SECONDS = 15;
/** How late the guest may be destroyed, in milliseconds. */
const LATE = 2_000;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteVm(VM);
});

afterEach(async () => {
  await startProcess('temporal');
  await untilSystemReady();
});

afterAll(async () => {
  await deleteVm(VM);
  await untilNothingLeft(VM);
});

const killControllerAndTemporal = async (): Promise<void> => {
  const controllers = await systemPods('controller');
  await killProcess('temporal');
  for (const { metadata } of controllers) await killInPod(metadata?.uid ?? '', /workers\/controller\/main\.ts/);
};

test.each([
  { down: 'everything up', fault: () => Promise.resolve() },
  { down: 'controller worker and Temporal down', fault: killControllerAndTemporal },
])('a guest that ignores every signal is destroyed at its deadline, not before: $down', async ({ fault }) => {
  await createVm(VM, { counter: true, ignoresShutdown: true, gracePeriodSeconds: GRACE_SECONDS });
  await untilReady(VM);
  const [qemu] = await qemuProcesses(NAMESPACE, VM);

  await setRunStrategy(VM, 'Halted');
  const deadline = await until('the guest is signalled', deadlineOfStop, { timeoutMs: 30_000, everyMs: 200 });
  await fault();
  expect(Date.now()).toBeLessThan(deadline);
  await until('the end of QEMU', async () => (await qemuProcesses(NAMESPACE, VM)).length === 0, { timeoutMs: 60_000 });
  const late = Date.now() - deadline;
  process.stderr.write(`QEMU ${qemu?.pid} ended ${late} ms after its deadline\n`);

  await startProcess('temporal');
  await untilStopped(VM);
  expect((await lastOperation(VM, 'shutdown'))?.status).toMatchObject({ end: 'destroyedAtDeadline' });
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThanOrEqual(LATE);
});

/** Deadline of the shutdown under way, once the launcher knows it. */
async function deadlineOfStop(): Promise<number | undefined> {
  const operation = await lastOperation(VM, 'shutdown');
  const { deadline, steps } = operation?.status ?? {};
  const isHandedOver = steps?.some(({ name, state }) => name === 'SignalGuest' && state === 'done') ?? false;
  return operation?.state === 'running' && isHandedOver && deadline !== undefined ? Date.parse(deadline) : undefined;
}
