import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { kubectl } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { launcherPod, untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { Recorder } from '../support/recorder.ts';
import { createVm, deleteVm, getVmi, NAMESPACE, untilReady } from '../support/vms.ts';
import { removeNodeWorkers, restoreNodeWorkers } from '../support/workers.ts';

const VM = 'pod-deleted';
const GRACE_SECONDS = 30;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteVm(VM);
});

afterAll(async () => {
  await restoreNodeWorkers();
  await deleteVm(VM);
  await untilNothingLeft(VM);
});

test('a deleted launcher Pod gives its guest a clean shutdown, even without node workers; then the VM runs anew', async () => {
  await createVm(VM, { counter: true, gracePeriodSeconds: GRACE_SECONDS });
  const { metadata } = await untilReady(VM);
  const pod = await launcherPod(metadata?.uid ?? '');
  const recorder = new Recorder(NAMESPACE, VM);
  await until('the guest counts', () => recorder.boot);
  await removeNodeWorkers();

  await kubectl(['delete', 'pod', pod.metadata?.name ?? '', '-n', NAMESPACE, '--wait=false']);
  const deleted = Date.now();
  await until('the end of QEMU', async () => (await qemuProcesses(NAMESPACE, VM)).length === 0, { timeoutMs: 60_000 });
  expect(Date.now() - deleted).toBeLessThan(GRACE_SECONDS * 1000);

  // Only a node worker can release the mounts that keep the kubelet from removing the Pod.
  await restoreNodeWorkers();
  await until('another VMI', () => isAnother(metadata?.uid), { timeoutMs: 60_000, everyMs: 500 });
  await untilReady(VM);
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.poweredDown).toBe(true);
  expect(recorder.boots).toBe(2);
});

async function isAnother(old: string | undefined): Promise<boolean> {
  const uid = (await getVmi(VM))?.metadata?.uid;
  return uid !== undefined && uid !== old;
}
