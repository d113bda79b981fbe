import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ALL, announce, rounds, SEED } from '../support/fault-options.ts';
import { reportMigrationFaults, type FaultRun } from '../support/fault-report.ts';
import { startProcess } from '../support/local-cluster.ts';
import { setMigrations } from '../support/migration-settings.ts';
import { untilTraceless } from '../support/migration-traces.ts';
import { createMigration, untilOver } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { randomOf } from '../support/random.ts';
import { deleteVm, NAMESPACE } from '../support/vms.ts';
import { migrateWithFault, nextMovement, prepareVm } from './migrating.ts';
import { migrationVictims, untilTargetLauncher, type MigrationVictim } from './migration-victims.ts';

const VM = 'migration-kill';
/** So that the copy takes its time. */
const BANDWIDTH = '32Mi';
/** Longest time that Temporal or the API server is away, in milliseconds. */
const AWAY = 3_000;

/** One of each kind, which the seed decides, or all. */
const drawn = (victims: readonly MigrationVictim[], round: number): MigrationVictim[] => {
  if (ALL) return [...victims];
  return Object.entries(Object.groupBy(victims, ({ kind }) => kind)).flatMap(([kind, some = []]) => {
    const one = some[Math.floor(randomOf(`${SEED}/${round}/${kind}/side`)() * some.length)];
    return one === undefined ? [] : [one];
  });
};

const cases = rounds.flatMap((round) =>
  drawn(migrationVictims, round).map((victim) => ({ victim, name: victim.name, round })),
);
const runs: FaultRun[] = [];
/** How long a migration takes undisturbed, in milliseconds: from the request, and from when the target's launcher runs. */
const span = { whole: 0, late: 0 };
let restore = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  announce();
  await ensureNamespace(NAMESPACE);
  await prepareVm(VM);
  restore = await setMigrations({ bandwidthPerMigration: BANDWIDTH });
  await measure();
});

afterEach(async () => {
  await startProcess('kube-apiserver');
  await startProcess('temporal');
  await untilSystemReady();
});

afterAll(async () => {
  await reportMigrationFaults('kill', runs);
  await restore();
  await deleteVm(VM);
});

test.each(cases)(
  '$name killed during a migration (round $round): it ends, and one guest runs on',
  async ({ victim, round }) => {
    await prepareVm(VM);
    const movement = await nextMovement(VM);
    const random = randomOf(`${SEED}/${round}/${victim.name}`);
    const run: FaultRun = {
      ...{ victim: victim.name, operation: 'migrate', seed: SEED, round },
      ...{ delay: 0, violations: [], outcome: 'failed' },
    };
    runs.push(run);
    // What can be known before is: the instant of the kill shall not depend on how busy the machine is.
    const early = victim.isLate ? undefined : await victim.aim(movement);
    const strike = async (): Promise<void> => {
      const hit = early ?? (await victim.aim(movement));
      run.delay = Math.round(random() * (victim.isLate ? span.late : span.whole));
      await pause(run.delay);
      await hit('SIGKILL');
      await pause(random() * AWAY);
      await victim.revive?.();
    };
    await migrateWithFault(run, movement, { strike });
  },
);

/** The instants of the kills are drawn from what this finds. */
async function measure(): Promise<void> {
  const movement = await nextMovement(VM);
  const asked = Date.now();
  await createMigration(movement.migration, VM);
  await untilTargetLauncher(movement);
  const there = Date.now();
  const { status } = await untilOver(movement.migration);
  expect({ phase: status?.phase, why: status?.migrationState?.failureReason }).toEqual({ phase: 'Succeeded' });
  await untilTraceless(VM);
  const over = Date.now();
  Object.assign(span, { whole: over - asked, late: over - there });
  process.stderr.write(`undisturbed: ${span.whole} ms, ${span.late} ms of them with the target's launcher\n`);
}
