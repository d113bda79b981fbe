import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { migrationId } from '../../../api/contract/refs.ts';
import { until } from '../../support/until.ts';
import { ALL, announce, rounds, SEED } from '../support/fault-options.ts';
import { reportMigrationFaults, type FaultRun } from '../support/fault-report.ts';
import { kubectl } from '../support/kubectl.ts';
import { cutLink, healLink, type Cut } from '../support/link.ts';
import { startKubelet, stopKubelet } from '../support/local-cluster.ts';
import { setMigrations } from '../support/migration-settings.ts';
import { getMigration, untilMigration } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { launcherPods, untilSystemReady } from '../support/pods.ts';
import { randomOf } from '../support/random.ts';
import { watchSwitchover } from '../support/switchover.ts';
import { deleteVm, getVmi, NAMESPACE } from '../support/vms.ts';
import { migrateWithFault, nextMovement, prepareVm, type Fault, type Movement } from './migrating.ts';
import { migrationVictims } from './migration-victims.ts';

const VM = 'migration-link';
/** So that the copy takes its time. */
const BANDWIDTH = '16Mi';
/** How long a frozen process stays so, in milliseconds. */
const FROZEN = 40_000;
/** How long the target's node has no kubelet, in milliseconds: too short to be taken for lost. */
const WITHOUT_KUBELET = 20_000;
/** The instant within the copy is drawn from it, in milliseconds. */
const COPY = 3_000;

interface Case {
  what: string;
  /** Also in runs that do not try all. */
  always?: boolean;
  /** How it must end, if there is no choice. */
  end?: 'Succeeded' | 'Failed';
  fault: (movement: Movement, random: () => number) => Fault;
}

const phase =
  (wanted: string) =>
  async ({ migration }: Movement): Promise<void> =>
    void (await untilMigration(wanted, migration, ({ status }) => status?.phase === wanted));

const instants = {
  before: phase('Running'),
  at: async ({ source }: Movement): Promise<void> => {
    const switchover = watchSwitchover(NAMESPACE, VM, source.pod);
    try {
      await switchover.happened;
    } finally {
      await switchover.stop();
    }
  },
  after: async (movement: Movement): Promise<void> => {
    await instants.at(movement);
    await until('the target runs', async () => runsIn(movement), { everyMs: 50 });
  },
};

const runsIn = async ({ migration, targetNode }: Movement): Promise<boolean> => {
  const [vmim, vmi] = await Promise.all([getMigration(migration), getVmi(VM)]);
  return vmim?.status?.phase === 'Succeeded' || vmi?.status?.nodeName === targetNode;
};

const cut = (when: keyof typeof instants, how: Cut): Case => ({
  what: `link cut (${how}) ${when} switchover`,
  ...(when === 'after' && { end: 'Succeeded' }),
  always: when === 'at' && how === 'drop',
  fault: (movement) => ({
    strike: async () => {
      await instants[when](movement);
      await cutLink(movement.targetNode, how);
    },
    heal: () => healLink(movement.targetNode),
  }),
});

/** Frozen some time into the copy. */
const frozen = migrationVictims
  .filter(({ canFreeze }) => canFreeze)
  .map((victim): Case => ({
    what: `${victim.name} frozen`,
    fault: (movement, random) => {
      let thawed: Promise<void> | undefined;
      return {
        strike: async () => {
          const hit = await victim.aim(movement);
          await instants.before(movement);
          await pause(random() * COPY);
          await hit('SIGSTOP');
          thawed = pause(FROZEN).then(() => hit('SIGCONT'));
        },
        heal: () => Promise.resolve(thawed),
      };
    },
  }));

const targetPodDeleted: Case = {
  what: 'target Pod deleted',
  end: 'Failed',
  fault: (movement) => ({
    strike: async () => {
      await instants.before(movement);
      const pods = await launcherPods(movement.vmiUid);
      const target = pods.find(({ metadata }) => metadata?.uid !== movement.source.podUid)?.metadata?.name ?? '';
      await kubectl(['delete', 'pod', target, '-n', NAMESPACE, '--wait=false']);
    },
  }),
};

const withoutKubelet = (when: string): Case => ({
  what: `target node without kubelet from ${when} on`,
  fault: (movement) => ({
    strike: async () => {
      await phase(when)(movement);
      await stopKubelet(movement.targetNode);
      await pause(WITHOUT_KUBELET);
      await startKubelet(movement.targetNode);
    },
    heal: () => startKubelet(movement.targetNode),
  }),
});

const terminated = (when: string, instant: (movement: Movement) => Promise<void>): Case => ({
  what: `workflow terminated ${when}`,
  fault: (movement) => ({
    strike: async () => {
      await instant(movement);
      const uid = (await getMigration(movement.migration))?.metadata?.uid ?? '';
      const id = migrationId({ namespace: NAMESPACE, name: movement.migration, uid });
      await execa('temporal', ['workflow', 'terminate', '--workflow-id', id, '--reason', 'fault test']);
    },
  }),
});

const CASES: Case[] = [
  ...(['before', 'at', 'after'] as const).flatMap((when) => [cut(when, 'drop'), cut(when, 'reject')]),
  ...frozen,
  targetPodDeleted,
  ...['Scheduling', 'Running'].map(withoutKubelet),
  terminated('while its target Pod is scheduled', phase('Scheduling')),
  terminated('during the copy', instants.before),
  terminated('at the switchover', instants.at),
];

const runs: FaultRun[] = [];
let restore = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  announce();
  await ensureNamespace(NAMESPACE);
  await prepareVm(VM);
  restore = await setMigrations({ bandwidthPerMigration: BANDWIDTH });
});

afterEach(() => untilSystemReady());

afterAll(async () => {
  await reportMigrationFaults('link', runs);
  await restore();
  await deleteVm(VM);
});

test.each(rounds.flatMap((round) => CASES.filter(({ always }) => ALL || always).map((one) => ({ ...one, round }))))(
  '$what (round $round): the migration ends, and one guest runs on',
  async ({ what, end, fault, round }) => {
    await prepareVm(VM);
    const movement = await nextMovement(VM);
    const run: FaultRun = {
      ...{ victim: what, operation: 'migrate', seed: SEED, round },
      ...{ delay: 0, violations: [], outcome: 'failed' },
    };
    runs.push(run);
    const given = fault(movement, randomOf(`${SEED}/${round}/${what}`));
    const asked = Date.now();
    const strike = async (): Promise<void> => {
      await given.strike();
      run.delay = Date.now() - asked;
    };
    await migrateWithFault(run, movement, { ...given, strike });
    if (end !== undefined) expect(run.end).toBe(end);
  },
);
