import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../../api/kubevirt/types.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { announce } from '../support/fault-options.ts';
import { reportFaults, type FaultRun } from '../support/fault-report.ts';
import { apply, getObject, kubectl, listObjects } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { launcherPods, systemPods, untilSystemReady } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import {
  createVm,
  deleteVm,
  getVm,
  getVmi,
  guestSpec,
  NAMESPACE,
  setRunStrategy,
  untilObject,
  untilStopped,
} from '../support/vms.ts';
import { casesOf, chanceOf, newRun, strikeAfter, testOnDemand, untilAllRuns } from './striking.ts';
import { PROCESSES, victims } from './victims.ts';

const VM = 'crash-loop-kill';
/** Back-off after the first and second failure in a row, in milliseconds, as KubeVirt has it. */
const BACK_OFF = { 1: [10_000, 15_000], 2: [40_000, 60_000] } as const;
/** How late virtflow may learn of an end, or look at the clock, while one of its processes is away, in milliseconds. */
const LATE = 30_000;
/** From the first failure to the start that follows; the instant of the kill is drawn from it. */
const SPAN = 15_000;
/** From the end of a guest to when the next has ended, and how much of that its launcher lives, in milliseconds. */
const [LAP, LIFE] = [10_000, 4_000];

const runs: FaultRun[] = [];

beforeAll(async () => {
  announce();
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
});

afterEach(async () => {
  await untilAllRuns();
  await deleteVm(VM);
  await untilNothingLeft(VM);
});

afterAll(() => reportFaults('crash loop', runs));

const timeOf = (text: string | undefined): number => Date.parse(text ?? '');
const createdAt = ({ metadata }: VirtualMachineInstance): number => timeOf(metadata?.creationTimestamp);

/** The launcher Pod of the next start goes before its guest ran. */
const failStart = async (before?: string): Promise<VirtualMachineInstance> => {
  const vmi = await untilObject(
    'a start that waits for a node',
    () => getVmi(VM),
    async ({ metadata }) => metadata?.uid !== before && (await launcherPods(metadata?.uid ?? '')).length === 1,
    SPAN + LATE + 60_000,
  );
  const [pod] = await launcherPods(vmi.metadata?.uid ?? '');
  await kubectl(['delete', 'pod', pod?.metadata?.name ?? '', '-n', NAMESPACE, '--wait=false']);
  return vmi;
};

/** The VM once so many starts have failed; `since`: when the last of them did. */
const untilFailures = async (
  count: 1 | 2,
  since: number,
): Promise<NonNullable<VirtualMachine['status']>['startFailure']> => {
  const { status } = await untilObject(
    `${count} failures in a row`,
    () => getVm(VM),
    (vm) => vm.status?.startFailure?.consecutiveFailCount === count,
    LATE + 30_000,
  );
  const backOff = timeOf(status?.startFailure?.retryAfterTimestamp) - since;
  // Times in objects are cut to seconds.
  expect(backOff).toBeGreaterThanOrEqual(BACK_OFF[count][0] - 1_000);
  expect(backOff).toBeLessThanOrEqual(BACK_OFF[count][1] + LATE);
  return status?.startFailure;
};

const inControl = victims.filter(({ name }) => name !== 'launcher' && name !== 'libvirtd');

test.each(casesOf('crash loop', inControl))(
  '$name killed while starts fail (round $round): they are counted on, and tried again when their back-off is over',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('crash loop', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    await createVm(VM, {
      runStrategy: 'Always',
      change: (spec) => (spec.nodeSelector = { 'virtflow.io/nowhere': 'true' }),
    });
    const first = await failStart();
    const failed = Date.now();
    const counted = await untilFailures(1, failed);
    expect(counted).toMatchObject({ lastFailedVMIUID: first.metadata?.uid });

    run.delay = Math.round(chance() * SPAN);
    const killed = await strikeAfter(run.delay, victim, await victim.aim(VM), chance);
    const status = (await until('the VM can be read', () => getVm(VM).catch(() => undefined), { everyMs: 500 })).status;
    expect(status?.startFailure).toEqual(counted);
    const second = await failStart(first.metadata?.uid);
    run.recovered = Date.now() - killed;
    const late = createdAt(second) - timeOf(counted?.retryAfterTimestamp);
    expect(late).toBeGreaterThanOrEqual(-1_000);
    expect(late).toBeLessThanOrEqual(LATE);
    expect(await untilFailures(2, Date.now())).toMatchObject({ lastFailedVMIUID: second.metadata?.uid });
    run.total = Date.now() - failed;
    run.outcome = 'ok';
  },
);

testOnDemand.each(casesOf('guests that end at once', victims))(
  '$name killed while guests end at once (round $round): one follows another, never two at a time, and that can be ended',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('guests that end at once', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    const recorder = new Recorder(NAMESPACE, VM);
    const uids = new Set<string>();
    const lookOn = async (): Promise<number> => {
      const uid = (await getVmi(VM).catch(() => undefined))?.metadata?.uid;
      return uid === undefined ? uids.size : uids.add(uid).size;
    };
    const laps = (count: number) =>
      until(`${count} instances`, async () => (await lookOn()) >= count, { timeoutMs: 180_000, everyMs: 250 });
    try {
      await createVm(VM, { runStrategy: 'Always', change: endAtOnce });
      await laps(2);
      const kill = await victim.aim(VM);
      run.delay = Math.round(chance() * (inControl.includes(victim) ? LAP : LIFE));
      const killed = await strikeAfter(run.delay, victim, kill, chance);
      await laps(uids.size + 2);
      run.recovered = Date.now() - killed;
      await setRunStrategy(VM, 'Halted');
      await untilStopped(VM);
      run.total = Date.now() - killed;
      await untilNothingLeft(VM);
    } finally {
      run.violations = await recorder.stop();
    }
    expect(run.violations).toEqual([]);
    expect((await getVm(VM))?.status?.startFailure).toBeUndefined();
    run.outcome = 'ok';
  },
);

testOnDemand('the back-off of a replica set outlives the controller', async () => {
  const set = 'crash-loop-kill-set';
  const labels = { app: set };
  const instances = () => listObjects<VirtualMachineInstance>('vmi', NAMESPACE, `app=${set}`);
  const conditionsOf = async () =>
    (await getObject<VirtualMachineInstanceReplicaSet>('vmirs', set, NAMESPACE))?.status?.conditions ?? [];
  /** When its next VMI is created. */
  const untilFailures = (count: number): Promise<number> =>
    until(
      `${count} failures in a row are told`,
      async () => {
        const text = (await conditionsOf()).find(({ reason }) => reason === 'CrashLoopBackOff')?.message ?? '';
        const [, retryAt] = new RegExp(`in a row: ${count}\\).* at (.*)$`).exec(text) ?? [];
        return retryAt === undefined ? undefined : timeOf(retryAt);
      },
      { timeoutMs: 90_000, everyMs: 500, seen: conditionsOf },
    );
  try {
    await apply({
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceReplicaSet' },
      metadata: { name: set, namespace: NAMESPACE },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: guestSpec({ change: endAtOnce }) },
      },
    });
    const retryAt = await untilFailures(1);
    // It may still be on its way out.
    const ended = (await instances()).map(({ metadata }) => metadata?.uid);
    for (const { metadata } of await systemPods('controller'))
      await killInPod(metadata?.uid ?? '', PROCESSES.controller);
    const next = await until(
      'the next VMI',
      async () => (await instances()).find(({ metadata }) => !ended.includes(metadata?.uid)),
      { timeoutMs: BACK_OFF[1][1] + LATE, everyMs: 250 },
    );
    expect(createdAt(next) - retryAt).toBeGreaterThanOrEqual(-1_000);
    expect(createdAt(next) - retryAt).toBeLessThanOrEqual(LATE);
    const backOff = (await untilFailures(2)) - Date.now();
    expect(backOff).toBeGreaterThanOrEqual(BACK_OFF[2][0] - 5_000);
    expect(backOff).toBeLessThanOrEqual(BACK_OFF[2][1]);
  } finally {
    await kubectl([
      'delete',
      'vmirs',
      set,
      '-n',
      NAMESPACE,
      '--ignore-not-found',
      '--cascade=foreground',
      '--timeout=60s',
    ]);
  }
});

/** Its first process switches the guest off. */
const endAtOnce = ({ domain: { firmware } }: VirtualMachineInstance['spec']): void => {
  if (firmware?.kernelBoot) firmware.kernelBoot.kernelArgs += ' rdinit=/sbin/poweroff -- -f';
};
