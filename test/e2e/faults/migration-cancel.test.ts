import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { ALL, announce, MIGRATIONS, SEED } from '../support/fault-options.ts';
import { reportMigrationFaults, type FaultRun } from '../support/fault-report.ts';
import { lastOperation } from '../support/history.ts';
import { kubectl, virtflow } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { startProcess } from '../support/local-cluster.ts';
import { memoryOfWorkers } from '../support/memory.ts';
import { setMigrations } from '../support/migration-settings.ts';
import { untilTraceless } from '../support/migration-traces.ts';
import { createMigration, getMigration, isFinal, untilMigration } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import { deleteVm, getVmi, NAMESPACE, setRunStrategy, untilStopped } from '../support/vms.ts';
import {
  isExplained,
  migratesNow,
  nextMovement,
  prepareVm,
  requireOneGuest,
  untilRunsOn,
  type Movement,
} from './migrating.ts';
import { migrationVictims, type MigrationVictim } from './migration-victims.ts';

const VM = 'migration-cancel';
/** So slow that it does not end by itself meanwhile. */
const SLOW = { bandwidthPerMigration: '1Mi' };
/** How long a cancellation may take, in milliseconds. */
const WITHIN = { healthy: 10_000, disturbed: 45_000 };

const runs: FaultRun[] = [];
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  announce();
  await ensureNamespace(NAMESPACE);
});

afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
  await startProcess('kube-apiserver');
  await startProcess('temporal');
  await untilSystemReady();
});

afterAll(async () => {
  await reportMigrationFaults('cancel', runs);
  await deleteVm(VM);
});

interface Hold {
  phase: string;
  always: boolean;
  /** Keeps a migration in the phase; absent: it is caught there. */
  hold?: (movement: Movement) => Promise<() => Promise<unknown>>;
}

const cordon = async ({ targetNode }: Movement): Promise<() => Promise<unknown>> => {
  await kubectl(['cordon', targetNode]);
  return () => kubectl(['uncordon', targetNode]);
};

const HOLDS: Hold[] = [
  { phase: 'Pending', always: false, hold: () => setMigrations({ parallelMigrationsPerCluster: 0 }) },
  { phase: 'Scheduling', always: true, hold: cordon },
  { phase: 'PreparingTarget', always: false },
  { phase: 'Running', always: true, hold: () => setMigrations(SLOW) },
];

/** Deletes the VMIM and waits for its end. @returns how long that took, in milliseconds */
async function cancel({ migration }: Movement, timeoutMs: number): Promise<number> {
  const asked = Date.now();
  await kubectl(['delete', 'vmim', migration, '-n', NAMESPACE, '--wait=false']);
  const isOver = async (): Promise<boolean> => {
    const vmim = await getMigration(migration).catch(() => null);
    return vmim === undefined || (vmim !== null && (isFinal(vmim) || isExplained(vmim)));
  };
  await until(`VMIM ${migration} is over`, isOver, { timeoutMs, everyMs: 100 });
  return Date.now() - asked;
}

/** Cancels a migration, and sees to it that the source runs on and nothing is left. */
async function cancelled(
  movement: Movement,
  { what, within, before }: { what: string; within: number; before: () => Promise<void> },
  heal: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const run: FaultRun = {
    ...{ victim: what, operation: 'cancel', seed: SEED, round: 1 },
    ...{ delay: 0, violations: [], outcome: 'failed' },
  };
  runs.push(run);
  const recorder = new Recorder(NAMESPACE, VM, { mayMigrate: true });
  try {
    await until('the guest counts', () => recorder.boot);
    const asked = Date.now();
    await createMigration(movement.migration, VM);
    try {
      await before();
      run.delay = Date.now() - asked;
      run.told = await cancel(movement, 2 * within);
    } finally {
      await heal();
    }
    await until('the VMIM is gone', async () => (await getMigration(movement.migration)) === undefined, {
      everyMs: 200,
    });
    run.total = Date.now() - asked;
    await untilRunsOn(VM, recorder);
    await untilTraceless(VM);
    run.end = (await lastOperation(VM, 'migrate'))?.state ?? '';
  } finally {
    run.violations = await recorder.stop();
    run.boots = recorder.boots;
  }
  requireOneGuest(run);
  expect((await getVmi(VM))?.status?.nodeName).toBe(movement.source.node);
  expect(run.told).toBeLessThan(within);
  run.outcome = 'ok';
}

const enters = (movement: Movement, phase: string) => (): Promise<void> =>
  untilMigration(phase, movement.migration, ({ status }) => (status?.phase ?? 'Pending') === phase).then(
    () => undefined,
  );

describe('a migration that is cancelled', () => {
  test.each(HOLDS.filter(({ always }) => ALL || always))('while $phase', async ({ phase, hold }) => {
    await prepareVm(VM);
    const movement = await nextMovement(VM);
    if (hold) undo.push(await hold(movement));
    await cancelled(movement, {
      what: `cancelled while ${phase}`,
      within: WITHIN.healthy,
      before: enters(movement, phase),
    });
  });

  const disturbances = migrationVictims.flatMap((victim) => [
    { what: `${victim.name} dead`, victim, signal: 'SIGKILL' as const },
    ...(victim.canFreeze ? [{ what: `${victim.name} frozen`, victim, signal: 'SIGSTOP' as const }] : []),
  ]);

  (ALL ? test.each(disturbances) : test.skip.each(disturbances))('with $what', async ({ what, victim, signal }) => {
    await prepareVm(VM);
    undo.push(await setMigrations(SLOW));
    const movement = await nextMovement(VM);
    let hit: Awaited<ReturnType<MigrationVictim['aim']>> | undefined;
    const before = async (): Promise<void> => {
      hit = await victim.aim(movement);
      await enters(movement, 'Running')();
      await hit(signal);
      await victim.revive?.();
    };
    const heal = async (): Promise<void> => {
      if (signal === 'SIGSTOP') await hit?.('SIGCONT');
    };
    await cancelled(movement, { what: `cancelled, ${what}`, within: WITHIN.disturbed, before }, heal);
  });

  test('by virtflow cancel; then it can be migrated', async () => {
    await prepareVm(VM);
    const movement = await nextMovement(VM);
    const restore = await setMigrations(SLOW);
    undo.push(restore);
    await createMigration(movement.migration, VM);
    await enters(movement, 'Running')();
    await virtflow(['cancel', VM, '-n', NAMESPACE]);
    expect((await getVmi(VM))?.status?.nodeName).toBe(movement.source.node);
    await untilTraceless(VM);
    await restore();
    await migratesNow(VM);
  });
});

test('a VM that is stopped while it migrates shuts down cleanly', async () => {
  await prepareVm(VM);
  const movement = await nextMovement(VM);
  undo.push(await setMigrations(SLOW));
  await createMigration(movement.migration, VM);
  await enters(movement, 'Running')();
  await setRunStrategy(VM, 'Halted');
  await untilStopped(VM, 60_000);
  expect((await lastOperation(VM, 'shutdown'))?.status?.end).toBe('agentShutdown');
  await untilNothingLeft(VM);
});

(MIGRATIONS > 0 ? test : test.skip)(
  `${MIGRATIONS} migrations in a row leave nothing behind`,
  async () => {
    await prepareVm(VM);
    await migratesNow(VM);
    const before = await memoryOfWorkers();
    for (let n = 0; n < MIGRATIONS; n += 1) await migratesNow(VM);
    const after = await memoryOfWorkers();
    process.stderr.write(`MiB before and after ${MIGRATIONS} migrations: ${JSON.stringify({ before, after })}\n`);
    // What a heap that is not under pressure may keep.
    for (const [name, mib] of Object.entries(after)) expect(mib).toBeLessThan((before[name] ?? 0) + 64);
  },
  3_600_000,
);
