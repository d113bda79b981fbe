import { setTimeout as pause } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { virtctl } from '../../support/virtctl/index.ts';
import { type FaultRun } from '../support/fault-report.ts';
import { untilNothingLeft, untilOneGuest } from '../support/leftovers.ts';
import { wipeTemporal } from '../support/local-cluster.ts';
import { Recorder } from '../support/recorder.ts';
import {
  condition,
  createVm,
  getVm,
  getVmi,
  NAMESPACE,
  setRunStrategy,
  untilObject,
  untilReady,
  untilStopped,
} from '../support/vms.ts';
import { casesOf, chanceOf, faultSuite, newRun, strikeAfter, testOnDemand, untilAllRuns } from './striking.ts';
import { victims, type Victim } from './victims.ts';

const VM = 'pause-kill';
/** The kill is drawn from so long before the request to so long after it, in milliseconds. */
const BEFORE = 500;
const AFTER = 1_500;
/** A guest that counts does so every 10 ms; one that has not for so long stands still. */
const STILL = 3_000;

const config = new KubeConfig();
config.loadFromDefault();
const client = virtctl(config, { namespace: NAMESPACE });
const runs = faultSuite('pause', VM);

afterAll(() => untilNothingLeft(VM));

const isPaused = async (): Promise<boolean> => condition(await getVmi(VM), 'Paused')?.status === 'True';

/** As a user does who asks again when he is told no, or nothing. */
const ask = async (request: 'pause' | 'unpause'): Promise<void> => {
  let told: unknown = 'nothing';
  const isServed = async (): Promise<boolean> => {
    const { status, json } = await client[request](VM, {}).catch((error: unknown) => ({
      status: 0,
      json: String(error),
    }));
    told = json;
    // Of a request whose answer was lost: it is so already.
    return status === 200 || (status === 409 && (await isPaused()) === (request === 'pause'));
  };
  await until(`${request} of ${VM} is served`, isServed, { timeoutMs: 120_000, everyMs: 500, seen: () => told });
};

const says = async (paused: boolean): Promise<void> => {
  const status = paused ? 'True' : undefined;
  await untilObject(
    `VMI ${VM} with condition Paused ${status ?? 'gone'}`,
    () => getVmi(VM),
    (vmi) => vmi.status?.phase === 'Running' && condition(vmi, 'Paused')?.status === status,
    60_000,
  );
  await untilObject(
    `VM ${VM} shows it`,
    () => getVm(VM),
    (vm) => vm.status?.printableStatus === (paused ? 'Paused' : 'Running'),
    60_000,
  );
};

const lastOf = ({ readings }: Recorder): { counter: number; at: number } => readings.at(-1) ?? { counter: 0, at: 0 };
const standsStill = (recorder: Recorder): Promise<boolean> =>
  until('the guest stands still', () => Date.now() - lastOf(recorder).at > STILL, { seen: () => lastOf(recorder) });
const countsOn = (recorder: Recorder): Promise<boolean> => {
  const { counter } = lastOf(recorder);
  return until('the guest counts on', () => lastOf(recorder).counter > counter + 10, { seen: () => lastOf(recorder) });
};

/** The guest that runs, watched. */
const begin = async (): Promise<Recorder> => {
  if ((await getVm(VM)) === undefined)
    await createVm(VM, { counter: true, runStrategy: 'Always', gracePeriodSeconds: 10 });
  await untilReady(VM);
  const recorder = new Recorder(NAMESPACE, VM);
  await until('the guest counts', () => recorder.boot);
  return recorder;
};

/** Nothing but the one guest is there, and it has been booted once. */
const end = async (run: FaultRun, recorder: Recorder): Promise<void> => {
  run.violations = await recorder.stop();
  run.boots = recorder.boots;
  expect(run.violations).toEqual([]);
  expect(run.boots).toBe(1);
  await untilOneGuest(VM);
  run.outcome = 'ok';
};

test.each(casesOf('pause', victims))(
  '$name killed around a pause, while paused and around an unpause (round $round): the guest is as was asked for, and it says so',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('pause', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    const recorder = await begin();
    try {
      run.delay = Math.round(chance() * (BEFORE + AFTER));
      const began = Date.now();
      await amid(victim, run.delay, chance, () => ask('pause'));
      run.total = Date.now() - began;
      await says(true);
      await standsStill(recorder);

      const { counter } = lastOf(recorder);
      await strikeAfter(0, victim, await victim.aim(VM), chance);
      await untilAllRuns();
      await says(true);
      expect(lastOf(recorder).counter).toBe(counter);

      await amid(victim, chance() * (BEFORE + AFTER), chance, () => ask('unpause'));
      const asked = Date.now();
      await says(false);
      await countsOn(recorder);
      run.recovered = Date.now() - asked;
    } finally {
      await recorder.stop();
    }
    await end(run, recorder);
  },
);

/** Asks while a victim dies, shortly before or after. */
async function amid(victim: Victim, ms: number, chance: () => number, act: () => Promise<void>): Promise<void> {
  const kill = await victim.aim(VM);
  await Promise.all([strikeAfter(ms, victim, kill, chance), pause(BEFORE).then(act)]);
  await untilAllRuns();
}

const oblivion: Victim = { name: 'memory of Temporal', aim: () => Promise.resolve(wipeTemporal) };

testOnDemand('Temporal is wiped while a guest is paused: it stays so, and can go on', async () => {
  const run = newRun('pause', { victim: oblivion, round: 1 });
  runs.push(run);
  const recorder = await begin();
  try {
    await ask('pause');
    await standsStill(recorder);
    const { counter } = lastOf(recorder);
    await (
      await oblivion.aim(VM)
    )();
    await untilAllRuns();
    await says(true);
    expect(lastOf(recorder).counter).toBe(counter);
    await ask('unpause');
    await says(false);
    await countsOn(recorder);
  } finally {
    await recorder.stop();
  }
  await end(run, recorder);
});

testOnDemand.each(casesOf('stop while paused', victims))(
  '$name killed while a paused guest is stopped (round $round): it ends by its deadline, and nothing is left',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('stop while paused', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    const recorder = await begin();
    try {
      await ask('pause');
      await says(true);
      const kill = await victim.aim(VM);
      await setRunStrategy(VM, 'Halted');
      const asked = Date.now();
      run.delay = Math.round(chance() * 5_000);
      const killed = await strikeAfter(run.delay, victim, kill, chance);
      await untilStopped(VM);
      Object.assign(run, { recovered: Date.now() - killed, total: Date.now() - asked });
      await untilNothingLeft(VM);
    } finally {
      run.violations = await recorder.stop();
      run.boots = recorder.boots;
      await untilAllRuns();
      await setRunStrategy(VM, 'Always');
    }
    expect(run.violations).toEqual([]);
    expect(run.boots).toBe(1);
    run.outcome = 'ok';
  },
);
