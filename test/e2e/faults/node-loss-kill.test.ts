import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { nodes } from '../../../deploy/local/cluster/addresses.ts';
import { until } from '../../support/until.ts';
import { announce, rounds } from '../support/fault-options.ts';
import { reportFaults, type FaultRun } from '../support/fault-report.ts';
import { kubectl, virtflow } from '../support/kubectl.ts';
import { untilNothingLeft, untilOneGuest } from '../support/leftovers.ts';
import { startKubelet } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { otherNode } from '../support/nodes.ts';
import { systemPods, untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { Recorder } from '../support/recorder.ts';
import {
  createVm,
  deleteVm,
  getVm,
  getVmi,
  isAgentConnected,
  NAMESPACE,
  setRunStrategy,
  untilObject,
  untilReady,
  untilStopped,
} from '../support/vms.ts';
import { ageHeartbeat, freeze, isUnresponsive, restore, silence, untilSaid } from './losing.ts';
import { casesOf, chanceOf, newRun, strikeAfter, testOnDemand, untilAllRuns } from './striking.ts';
import { victims } from './victims.ts';

/** A node is lost for good in the middle of something, or something else dies while it is lost. */
const VM = 'node-loss-kill';
/** How long the operations take undisturbed, in milliseconds; the instant of the loss is drawn from it. */
const SPAN = { start: 8_000, shutdown: 4_000, restart: 10_000 } as const;
/** How long it takes until a loss is told, and a fence is carried out, in milliseconds. */
const [TELLING, FENCING] = [3_000, 8_000];

type Operation = keyof typeof SPAN;

const nothing = (): Promise<unknown> => Promise.resolve();
const runs: FaultRun[] = [];
/** The node that is lost: not the one of the controller, without which nothing can be admitted. */
let lost = '';
/** Lets a machine that was stopped go on. */
let goOn = nothing;

beforeAll(async () => {
  announce();
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteVm(VM);
  const [controller] = await systemPods('controller');
  lost = otherNode(controller?.spec?.nodeName ?? '');
});

afterEach(async () => {
  await untilAllRuns();
  await openAll();
  await restore(lost, goOn);
  goOn = nothing;
  await deleteVm(VM);
  // What a Pod that went by force has left is swept from time to time.
  await untilNothingLeft(VM, 120_000);
}, 400_000);

afterAll(() => reportFaults('node loss', runs));

const openAll = (): Promise<unknown> => Promise.all(nodes.map(({ name }) => kubectl(['uncordon', name])));

/** Whatever starts goes to the node that will be lost. */
const begin = async (runStrategy: 'Always' | 'Halted'): Promise<Recorder> => {
  await kubectl(['cordon', otherNode(lost)]);
  await createVm(VM, { counter: true, runStrategy });
  const recorder = new Recorder(NAMESPACE, VM, { mayMigrate: true });
  if (runStrategy === 'Halted') await untilStopped(VM);
  else {
    await untilReady(VM);
    await until('the guest counts', () => recorder.boot);
  }
  return recorder;
};

/** Its power is gone: what it will say when it is back it does not know yet. */
const powerOff = async (): Promise<void> => {
  await silence(lost);
  goOn = await freeze(VM, lost);
  await openAll();
  await ageHeartbeat(lost);
};

/** It is back, with all that was in it, and serves again once it has stopped what is stale. `stale`: QEMU processes. */
const powerOn = async (stale: readonly number[]): Promise<void> => {
  await startKubelet(lost);
  const isThere = async (): Promise<boolean> =>
    (await qemuProcesses(NAMESPACE, VM)).some(({ pid }) => stale.includes(pid));
  await until('stale domains are stopped', async () => !(await isThere()), { timeoutMs: 120_000, everyMs: 250 });
  await restore(lost, goOn);
  goOn = nothing;
};

const pidsOfGuests = async (): Promise<number[]> => (await qemuProcesses(NAMESPACE, VM)).map(({ pid }) => pid);

/** Runs where nothing was lost, and is all there is. */
const untilElsewhere = (): Promise<unknown> =>
  untilObject(
    `VMI ${VM} Running with its agent connected, on ${otherNode(lost)}`,
    () => getVmi(VM),
    (vmi) => vmi.status?.nodeName === otherNode(lost) && isAgentConnected(vmi),
    240_000,
  );

const request: Record<Operation, () => Promise<unknown>> = {
  start: () => setRunStrategy(VM, 'Always'),
  shutdown: () => setRunStrategy(VM, 'Halted'),
  restart: () => virtflow(['restart', VM, '-n', NAMESPACE]),
};

/** It is over, or the VMI says what it waits for. */
const isTold = async (operation: Operation): Promise<boolean> => {
  const [vm, vmi] = [await getVm(VM), await getVmi(VM)];
  if (isUnresponsive(vmi)) return true;
  if (operation === 'shutdown') return vm?.status?.printableStatus === 'Stopped' && vmi === undefined;
  return vmi !== undefined && vmi.status?.nodeName === otherNode(lost) && isAgentConnected(vmi);
};

const operations = rounds.flatMap((round) =>
  (Object.keys(SPAN) as Operation[]).map((operation) => ({ operation, round })),
);

testOnDemand.each(operations)(
  'a node lost during a $operation (round $round): that is told, and once the node is fenced it ends as it should',
  async ({ operation, round }) => {
    const run = newRun(operation, { victim: { name: 'node', aim: () => Promise.resolve(powerOff) }, round });
    runs.push(run);
    const recorder = await begin(operation === 'start' ? 'Halted' : 'Always');
    try {
      await request[operation]();
      const asked = Date.now();
      run.delay = Math.round(chanceOf(run)() * SPAN[operation]);
      await pause(run.delay);
      await powerOff();
      const struck = Date.now();
      const stale = await pidsOfGuests();
      await until(`the loss is told, or the ${operation} is over`, () => isTold(operation).catch(() => false), {
        ...{ timeoutMs: 90_000, everyMs: 500 },
        seen: async () => ({ vm: (await getVm(VM))?.status, vmi: (await getVmi(VM))?.status }),
      });
      run.told = Date.now() - struck;
      expect((await getVmi(VM))?.status?.phase).not.toBe('Failed');
      await virtflow(['fence', '--yes', lost]);
      await (operation === 'shutdown' ? untilStopped(VM) : untilElsewhere());
      Object.assign(run, { recovered: Date.now() - struck, total: Date.now() - asked });
      await powerOn(stale);
      await (operation === 'shutdown' ? untilNothingLeft(VM, 120_000) : untilOneGuest(VM, 120_000));
    } finally {
      run.violations = await recorder.stop();
      run.boots = recorder.boots;
    }
    expect(run.violations).toEqual([]);
    run.outcome = 'ok';
  },
  900_000,
);

const ofControlPlane = victims.filter(({ name }) => ['controller worker', 'temporal', 'kube-apiserver'].includes(name));

testOnDemand.each(casesOf('node loss', ofControlPlane))(
  '$name killed while a node is lost, and while it is fenced (round $round): that is told, and its VM runs elsewhere once',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('node loss', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    const recorder = await begin('Always');
    const { uid } = (await getVmi(VM))?.metadata ?? {};
    try {
      const stale = await pidsOfGuests();
      await powerOff();
      const lostAt = Date.now();
      await strikeAfter(chance() * TELLING, victim, await victim.aim(VM), chance);
      await untilSaid(VM, true);
      run.told = Date.now() - lostAt;
      expect((await getVmi(VM))?.status?.phase).toBe('Running');
      await virtflow(['fence', '--yes', lost]);
      run.delay = Math.round(chance() * FENCING);
      const killed = await strikeAfter(run.delay, victim, await victim.aim(VM), chance);
      await untilElsewhere();
      Object.assign(run, { recovered: Date.now() - killed, total: Date.now() - lostAt });
      expect((await getVmi(VM))?.metadata?.uid).not.toBe(uid);
      await powerOn(stale);
      await untilOneGuest(VM, 120_000);
    } finally {
      run.violations = await recorder.stop();
      run.boots = recorder.boots;
    }
    expect(run.violations).toEqual([]);
    expect(run.boots).toBe(2);
    run.outcome = 'ok';
  },
  900_000,
);
