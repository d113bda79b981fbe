import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { instanceId, virtualMachineId } from '../../../api/contract/refs.ts';
import { until } from '../../support/until.ts';
import { lastOperation } from '../support/history.ts';
import { kubectl } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { startProcess, wipeTemporal } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { SYSTEM_NAMESPACE, untilSystemReady } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import { createVm, deleteVm, getVm, NAMESPACE, setRunStrategy, untilReady, untilStopped } from '../support/vms.ts';

/** What happens around a VM that runs: it runs on, virtflow finds it again, and it can be stopped. */
const VM = 'running';

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

interface Ids {
  vm: string;
  vmi: string;
}

test.each<{ what: string; fault: (ids: Ids) => Promise<unknown> }>([
  { what: 'node and controller workers rolled out anew', fault: restartWorkers },
  { what: 'both entities terminated in Temporal', fault: ({ vm, vmi }) => Promise.all([vm, vmi].map(terminate)) },
  { what: 'both entities reset in Temporal', fault: ({ vm, vmi }) => Promise.all([vm, vmi].map(reset)) },
  { what: 'Temporal wiped', fault: wipeTemporal },
])('$what: the VM runs on, is known again and can be stopped', async ({ fault }) => {
  await createVm(VM, { counter: true, runStrategy: 'Always' });
  const ids = idsOf((await untilReady(VM)).metadata?.uid, (await getVm(VM))?.metadata?.uid);
  const recorder = new Recorder(NAMESPACE, VM);
  const boot = await until('the guest counts', () => recorder.boot);

  await fault(ids);
  await untilSystemReady();
  await until('both entities run', () => areKnown(ids), { timeoutMs: 120_000, everyMs: 1_000 });
  await untilReady(VM);
  const count = recorder.readings.at(-1)?.counter ?? 0;
  await until('the guest counts on', () => (recorder.readings.at(-1)?.counter ?? 0) > count + 10);
  expect(recorder.boot).toBe(boot);

  await setRunStrategy(VM, 'Halted');
  await untilStopped(VM);
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(1);
  expect(recorder.poweredDown).toBe(true);
  expect((await lastOperation(VM, 'shutdown'))?.state).toBe('succeeded');
  await untilNothingLeft(VM);
});

const idsOf = (vmi: string | undefined, vm: string | undefined): Ids => ({
  vm: virtualMachineId({ namespace: NAMESPACE, name: VM, uid: vm ?? '' }),
  vmi: instanceId({ namespace: NAMESPACE, name: VM, uid: vmi ?? '' }),
});

async function restartWorkers(): Promise<void> {
  const workloads = ['daemonset/virtflow-node', 'deployment/virtflow-controller'];
  await kubectl(['rollout', 'restart', '-n', SYSTEM_NAMESPACE, ...workloads]);
  for (const workload of workloads)
    await kubectl(['rollout', 'status', workload, '-n', SYSTEM_NAMESPACE, '--timeout=180s']);
}

const terminate = (id: string): Promise<unknown> =>
  execa('temporal', ['workflow', 'terminate', '--workflow-id', id, '--reason', 'fault test']);

const reset = (id: string): Promise<unknown> =>
  execa('temporal', [
    'workflow',
    'reset',
    '--workflow-id',
    id,
    '--type',
    'FirstWorkflowTask',
    '--reason',
    'fault test',
  ]);

/** Both entities answer, and the instance's one knows that its guest runs. */
async function areKnown({ vm, vmi }: Ids): Promise<boolean> {
  const [ofVm, ofVmi] = await Promise.all([query(vm), query(vmi)]);
  return ofVm !== undefined && ofVmi?.includes('"phase":"Running"') === true;
}

async function query(id: string): Promise<string | undefined> {
  const args = ['workflow', 'query', '--workflow-id', id, '--type', 'entityStatus', '--reject-condition', 'not_open'];
  const { failed, stdout } = await execa('temporal', [...args, '-o', 'json'], { reject: false });
  return failed || stdout.includes('queryRejected') ? undefined : stdout.replaceAll(/\s/g, '');
}
