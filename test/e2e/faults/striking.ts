import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, test } from '@jest/globals';
import { ALL, announce, drawn, rounds, SEED } from '../support/fault-options.ts';
import { reportFaults, type FaultRun } from '../support/fault-report.ts';
import { startProcess } from '../support/local-cluster.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { randomOf } from '../support/random.ts';
import { deleteVm, NAMESPACE } from '../support/vms.ts';
import type { Victim } from './victims.ts';

/** Longest time that Temporal or the API server is away, in milliseconds. */
const AWAY = 3_000;

export interface StrikeCase {
  victim: Victim;
  /** For the name of the test. */
  name: string;
  round: number;
}

/** Each victim in each round; in runs that do not try all, the one that the seed draws. */
export const casesOf = (operation: string, victims: readonly Victim[]): StrikeCase[] =>
  rounds.flatMap((round) => drawn(operation, round, victims).map((victim) => ({ victim, name: victim.name, round })));

/** A test that is run on demand only. */
export const testOnDemand = ALL ? test : test.skip;

export const newRun = (operation: string, { victim, round }: Pick<StrikeCase, 'victim' | 'round'>): FaultRun => ({
  ...{ victim: victim.name, operation, seed: SEED, round },
  ...{ delay: 0, violations: [], outcome: 'failed' },
});

/** The numbers that decide a case's instants. */
export const chanceOf = ({ operation, victim, round }: FaultRun): (() => number) =>
  randomOf(`${SEED}/${round}/${victim}/${operation}`);

/** Kills after a time, and brings back what nothing else does. @returns when it was killed */
export async function strikeAfter(
  ms: number,
  { revive }: Victim,
  kill: () => Promise<void>,
  chance: () => number,
): Promise<number> {
  await pause(ms);
  await kill();
  const killed = Date.now();
  await pause(chance() * AWAY);
  await revive?.();
  return killed;
}

/** Hooks of a file that kills processes around one VM; its runs are to be put into what is returned. */
export const faultSuite = (name: string, vm: string): FaultRun[] => {
  const runs: FaultRun[] = [];
  beforeAll(async () => {
    announce();
    await ensureNamespace(NAMESPACE);
    await untilSystemReady();
    await deleteVm(vm);
  });
  afterEach(untilAllRuns);
  afterAll(async () => {
    await reportFaults(name, runs);
    await deleteVm(vm);
  });
  return runs;
};

/** All that a victim can be runs again. */
export async function untilAllRuns(): Promise<void> {
  await startProcess('kube-apiserver');
  await startProcess('temporal');
  await untilSystemReady();
}
