import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { virtflow } from '../support/kubectl.ts';
import { untilNothingLeft, untilOneGuest } from '../support/leftovers.ts';
import { disconnect, reconnect } from '../support/link.ts';
import { startKubelet } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { otherNode } from '../support/nodes.ts';
import { untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { Recorder } from '../support/recorder.ts';
import {
  createVm,
  deleteVm,
  getVmi,
  NAMESPACE,
  setRunStrategy,
  untilObject,
  untilReady,
  untilStopped,
} from '../support/vms.ts';
import {
  ageHeartbeat,
  freeze,
  getNode,
  keepOffController,
  restore,
  silence,
  untilSaid,
  untilSchedulable,
} from './losing.ts';
import { testOnDemand } from './striking.ts';

/** A node that is not heard of: its VMs say so and are left alone, until somebody vouches that it is dead. */
const VM = 'on-lost-node';

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
  if (lost !== '') await restore(lost, goOn);
});

afterAll(async () => {
  await deleteVm(VM);
  // What a Pod that went by force has left is swept from time to time.
  await untilNothingLeft(VM, 120_000);
}, 300_000);

interface Running {
  uid: string;
  recorder: Recorder;
  boot: string;
}

const startVm = async (): Promise<Running> => {
  uncordon = await keepOffController();
  await createVm(VM, { counter: true, runStrategy: 'Always' });
  const vmi = await untilReady(VM);
  await uncordon();
  lost = vmi.status?.nodeName ?? '';
  const recorder = new Recorder(NAMESPACE, VM, { mayMigrate: true });
  return { uid: vmi.metadata?.uid ?? '', recorder, boot: await until('the guest counts', () => recorder.boot) };
};

const countsOn = async ({ readings }: Recorder): Promise<void> => {
  const count = readings.at(-1)?.counter ?? 0;
  await until('the guest counts on', () => (readings.at(-1)?.counter ?? 0) > count + 10);
};

const ways = {
  'whose kubelet and worker are gone': { lose: silence, findAgain: startKubelet },
  'that is cut off from the control plane': { lose: disconnect, findAgain: reconnect },
};

const lose = async (way: keyof typeof ways): Promise<void> => {
  await ways[way].lose(lost);
  await ageHeartbeat(lost);
};

const runsOnAndRecovers = (way: keyof typeof ways) => async (): Promise<void> => {
  const { recorder, boot } = await startVm();
  await lose(way);
  await untilSchedulable(lost, 'false');
  await untilSaid(VM, true);
  expect((await getVmi(VM))?.status?.phase).toBe('Running');
  await countsOn(recorder);

  await ways[way].findAgain(lost);
  await untilSchedulable(lost, 'true');
  await untilSaid(VM, false);
  await untilReady(VM);
  expect(recorder.boot).toBe(boot);
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(1);
  await untilOneGuest(VM);
};

const runsElsewhere = (way: keyof typeof ways) => async (): Promise<void> => {
  const { uid, recorder, boot } = await startVm();
  const [frozen] = await qemuProcesses(NAMESPACE, VM);
  const isStale = async (): Promise<boolean> =>
    (await qemuProcesses(NAMESPACE, VM)).some(({ pid }) => pid === frozen?.pid);
  goOn = await freeze(VM, lost);
  await lose(way);
  await untilSaid(VM, true);
  expect((await getVmi(VM))?.status?.phase).toBe('Running');

  await virtflow(['fence', '--yes', lost]);
  const isElsewhere = (vmi: { metadata?: { uid?: string }; status?: { phase?: string; nodeName?: string } }): boolean =>
    vmi.metadata?.uid !== uid && vmi.status?.phase === 'Running' && vmi.status.nodeName === otherNode(lost);
  await untilObject('another VMI on the other node', () => getVmi(VM), isElsewhere, 240_000);
  await until('its guest counts', () => recorder.boot !== boot, { timeoutMs: 120_000 });
  expect(await isStale()).toBe(true);

  await ways[way].findAgain(lost);
  await until('the stale domain is stopped', async () => !(await isStale()), { timeoutMs: 120_000, everyMs: 250 });
  expect((await getNode(lost))?.metadata?.labels?.['kubevirt.io/schedulable']).toBe('false');
  await goOn();
  goOn = () => Promise.resolve();

  await virtflow(['fence', '--undo', '--yes', lost]);
  await untilSchedulable(lost, 'true');
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(2);
};

const RUNS_ON = 'its VMs say so, run on, and their status recovers when it is back';
const ELSEWHERE = 'its VM runs on the other one, and what comes back is stopped before that node serves';
const [gone, cut] = ['whose kubelet and worker are gone', 'that is cut off from the control plane'] as const;

test(`a node ${gone}: ${RUNS_ON}`, runsOnAndRecovers(gone), 600_000);
test(`a fenced node ${gone}: ${ELSEWHERE}`, runsElsewhere(gone), 900_000);
testOnDemand(`a node ${cut}: ${RUNS_ON}`, runsOnAndRecovers(cut), 600_000);
testOnDemand(`a fenced node ${cut}: ${ELSEWHERE}`, runsElsewhere(cut), 900_000);

testOnDemand(
  `a stop that is asked for while a node is cut off: it waits and says so, and is carried out when the node is back`,
  async () => {
    const { recorder } = await startVm();
    await lose(cut);
    await untilSaid(VM, true);
    await setRunStrategy(VM, 'Halted');
    await untilObject(
      'the VMI is being deleted',
      () => getVmi(VM),
      ({ metadata }) => metadata?.deletionTimestamp !== undefined,
      30_000,
    );
    await countsOn(recorder);
    expect((await getVmi(VM))?.status?.phase).toBe('Running');
    await untilSaid(VM, true);

    await reconnect(lost);
    await untilStopped(VM);
    expect(await recorder.stop()).toEqual([]);
    expect(recorder.poweredDown).toBe(true);
    expect(recorder.boots).toBe(1);
    await untilNothingLeft(VM);
  },
  600_000,
);
