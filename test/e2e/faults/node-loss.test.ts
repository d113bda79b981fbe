import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { NODE_UNRESPONSIVE } from '../../../api/contract/nodes.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { getObject, kubectl, virtflow } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { startKubelet, stopKubelet } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { otherNode } from '../support/nodes.ts';
import { launcherPod, systemPods, untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { Recorder } from '../support/recorder.ts';
import { condition, createVm, deleteVm, getVm, getVmi, NAMESPACE, untilObject, untilReady } from '../support/vms.ts';
import type { Node } from '../../../api/kubernetes/types.ts';

/** A node that is not heard of: its VMs say so and are left alone, until somebody vouches that it is dead. */
const VM = 'on-lost-node';
const HEARTBEAT = 'kubevirt.io/heartbeat';

let lost = '';
/** Lets a machine that was stopped go on. */
let goOn: () => Promise<unknown> = () => Promise.resolve();
let uncordon: () => Promise<unknown> = () => Promise.resolve();

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteVm(VM);
});

afterEach(async () => {
  await uncordon();
  if (lost === '') return;
  await startKubelet(lost);
  await goOn();
  await virtflow(['fence', '--undo', '--yes', lost]);
  await untilSystemReady();
  await untilSchedulable(lost, 'true');
});

afterAll(async () => {
  await deleteVm(VM);
  // What a Pod that went by force has left is swept from time to time.
  await untilNothingLeft(VM, 120_000);
}, 300_000);

const getNode = (name: string): Promise<Node | undefined> => getObject<Node>('node', name, 'default');

const untilSchedulable = (name: string, value: string) =>
  untilObject(
    `node ${name} has kubevirt.io/schedulable=${value}`,
    () => getNode(name),
    ({ metadata }) => metadata?.labels?.['kubevirt.io/schedulable'] === value,
    120_000,
  );

const says = (what: 'VMI' | 'VM', reads: () => Promise<Parameters<typeof condition>[0]>, status: 'True' | undefined) =>
  untilObject<NonNullable<Parameters<typeof condition>[0]>>(
    `${what} with condition ${NODE_UNRESPONSIVE} ${status ?? 'gone'}`,
    reads,
    (object) => condition(object, NODE_UNRESPONSIVE)?.status === status,
    60_000,
  );

/** Kubelet and worker of a node end; what runs in its launcher Pods does not. It has been so for ten minutes already, as its Node says. */
const silence = async (node: string): Promise<void> => {
  await stopKubelet(node);
  const workers = await systemPods('node', node);
  await Promise.all(workers.map(({ metadata }) => killInPod(metadata?.uid ?? '', /workers\/node\/main\.ts/)));
  const tenMinutesAgo = new Date(Date.now() - 600_000).toISOString().slice(0, 19) + 'Z';
  await kubectl(['annotate', 'node', node, '--overwrite', `${HEARTBEAT}=${tenMinutesAgo}`]);
};

/** Not where the only controller is: without it nothing can be admitted. */
const awayFromController = async (): Promise<void> => {
  const [only, ...more] = new Set((await systemPods('controller')).map(({ spec }) => spec?.nodeName ?? ''));
  if (only === undefined || more.length > 0) return;
  await kubectl(['cordon', only]);
  uncordon = () => kubectl(['uncordon', only]);
};

const startVm = async (): Promise<{ uid: string; recorder: Recorder; boot: string }> => {
  await awayFromController();
  await createVm(VM, { counter: true, runStrategy: 'Always' });
  const vmi = await untilReady(VM);
  await uncordon();
  lost = vmi.status?.nodeName ?? '';
  const recorder = new Recorder(NAMESPACE, VM, { mayMigrate: true });
  return { uid: vmi.metadata?.uid ?? '', recorder, boot: await until('the guest counts', () => recorder.boot) };
};

test('a silent node: its VMs say so, run on, and their status recovers when it is back', async () => {
  const { recorder, boot } = await startVm();
  await silence(lost);
  await untilSchedulable(lost, 'false');
  await says('VMI', () => getVmi(VM), 'True');
  await says('VM', () => getVm(VM), 'True');
  expect((await getVmi(VM))?.status?.phase).toBe('Running');
  const count = recorder.readings.at(-1)?.counter ?? 0;
  await until('the guest counts on', () => (recorder.readings.at(-1)?.counter ?? 0) > count + 10);

  await startKubelet(lost);
  await untilSchedulable(lost, 'true');
  await says('VMI', () => getVmi(VM), undefined);
  await untilReady(VM);
  expect(recorder.boot).toBe(boot);
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(1);
}, 600_000);

test('a fenced node: its VM runs on the other one, and what comes back is stopped before that node serves', async () => {
  const { uid, recorder, boot } = await startVm();
  const pod = (await launcherPod(uid)).metadata?.uid ?? '';
  const [frozen] = await qemuProcesses(NAMESPACE, VM);
  const isStale = async (): Promise<boolean> =>
    (await qemuProcesses(NAMESPACE, VM)).some(({ pid }) => pid === frozen?.pid);
  // Frozen like a machine whose power is gone: what is in it comes back with it.
  await killInPod(pod, /./, 'SIGSTOP');
  goOn = () => killInPod(pod, /./, 'SIGCONT');
  await silence(lost);
  await says('VMI', () => getVmi(VM), 'True');
  expect((await getVmi(VM))?.status?.phase).toBe('Running');

  await virtflow(['fence', '--yes', lost]);
  const isElsewhere = (vmi: { metadata?: { uid?: string }; status?: { phase?: string; nodeName?: string } }): boolean =>
    vmi.metadata?.uid !== uid && vmi.status?.phase === 'Running' && vmi.status.nodeName === otherNode(lost);
  await untilObject('another VMI on the other node', () => getVmi(VM), isElsewhere, 240_000);
  await until('its guest counts', () => recorder.boot !== boot, { timeoutMs: 120_000 });
  expect(await isStale()).toBe(true);

  await startKubelet(lost);
  await until('the stale domain is stopped', async () => !(await isStale()), { timeoutMs: 120_000, everyMs: 250 });
  expect((await getNode(lost))?.metadata?.labels?.['kubevirt.io/schedulable']).toBe('false');
  await goOn();
  goOn = () => Promise.resolve();

  await virtflow(['fence', '--undo', '--yes', lost]);
  await untilSchedulable(lost, 'true');
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(2);
}, 900_000);
