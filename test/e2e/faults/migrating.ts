import { expect } from '@jest/globals';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import type { FaultRun } from '../support/fault-report.ts';
import { createMigration, deleteMigrations, isFinal, untilMigration, untilOver } from '../support/migrations.ts';
import { untilTraceless } from '../support/migration-traces.ts';
import { otherNode } from '../support/nodes.ts';
import { launcherPod, untilSystemReady } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import { createClaim, createVm, deleteVm, getVm, getVmi, NAMESPACE, untilReady } from '../support/vms.ts';

/** How long it may take until a migration says what is the matter: it is over, or nobody knows who has the guest. */
const TOLD_MS = 90_000;
/** From then on, with all processes back, until it is over. */
const OVER_MS = 120_000;

/** A migration as it is about to be. */
export interface Movement {
  vm: string;
  vmiUid: string;
  /** Name of its VMIM. */
  migration: string;
  source: { node: string; pod: string; podUid: string };
  targetNode: string;
}

export interface Fault {
  /** Waits for its instant, and happens. The migration has been asked for. */
  strike: () => Promise<unknown>;
  /** Takes it back, once the migration is over or says that nobody knows. */
  heal?: () => Promise<unknown>;
}

/** One VM serves all cases of a file: it runs, and nothing of an earlier migration is left. One that is in a bad state is made anew. */
export async function prepareVm(vm: string): Promise<void> {
  await untilSystemReady();
  await deleteMigrations();
  if (!(await isInOrder(vm))) {
    await deleteVm(vm);
    await createClaim(vm);
    await createVm(vm, {
      ...{ claim: vm, network: true, counter: true, runStrategy: 'Always' },
      change: (spec) => {
        // One disk that is shared, one that is copied: so that every channel is used.
        spec.domain.devices.disks?.push({ name: 'scratch', disk: { bus: 'virtio' } });
        spec.volumes?.push({ name: 'scratch', emptyDisk: { capacity: '16Mi' } });
      },
    });
  }
  await untilReady(vm);
}

const isInOrder = async (vm: string): Promise<boolean> =>
  (await getVm(vm)) !== undefined &&
  (await untilTraceless(vm, 30_000).then(
    () => true,
    () => false,
  ));

let count = 0;
const nameOf = (vm: string): string => `${vm}-${(count += 1)}`;

/** The next migration of a VM that runs. */
export async function nextMovement(vm: string): Promise<Movement> {
  const vmi = await getVmi(vm);
  const vmiUid = vmi?.metadata?.uid ?? '';
  const { metadata, spec } = await launcherPod(vmiUid);
  const node = spec?.nodeName ?? '';
  const source = { node, pod: metadata?.name ?? '', podUid: metadata?.uid ?? '' };
  return { vm, vmiUid, migration: nameOf(vm), source, targetNode: otherNode(node) };
}

/** Whether it says that nobody knows who has the guest, and what it waits for. */
export const isExplained = ({ status }: VirtualMachineInstanceMigration): boolean =>
  status?.conditions?.some((one) => one.type === 'MigrationOutcomeUnknown' && one.status === 'True' && one.message) ??
  false;

/**
 * Migrates with a fault. In the end the migration is over, one guest runs where it says, nothing is left of it, and the VM can be migrated again.
 */
export async function migrateWithFault(run: FaultRun, movement: Movement, fault: Fault): Promise<void> {
  const { vm, migration, source, targetNode } = movement;
  const recorder = new Recorder(NAMESPACE, vm, { mayMigrate: true });
  try {
    await until('the guest counts', () => recorder.boot);
    const asked = Date.now();
    await createMigration(migration, vm);
    let struck = asked;
    try {
      await fault.strike();
      struck = Date.now();
      await untilMigration('over, or unknown', migration, (one) => isFinal(one) || isExplained(one), TOLD_MS);
      run.told = Date.now() - struck;
    } finally {
      await fault.heal?.();
    }
    run.end = (await untilOver(migration, OVER_MS)).status?.phase ?? '';
    Object.assign(run, { recovered: Date.now() - struck, total: Date.now() - asked });
    await untilRunsOn(vm, recorder);
    await untilTraceless(vm);
  } finally {
    run.violations = await recorder.stop();
    run.boots = recorder.boots;
  }
  requireOneGuest(run);
  expect((await getVmi(vm))?.status?.nodeName).toBe(run.end === 'Succeeded' ? targetNode : source.node);
  if (run.end !== 'Succeeded') await migratesNow(vm);
  run.outcome = 'ok';
}

/** Its guest counts on, and virtflow says so. */
export async function untilRunsOn(vm: string, recorder: Recorder): Promise<void> {
  await untilReady(vm);
  const { at = 0, counter = 0 } = recorder.readings.at(-1) ?? {};
  await until(`the guest of ${vm} counts on after ${counter} at ${at}`, () => {
    return (recorder.readings.at(-1)?.counter ?? 0) > counter + 10;
  });
}

/** @throws Error that says what the observer saw: a report often has its first line only */
export function requireOneGuest({ violations, boots }: FaultRun): void {
  if (violations.length > 0) throw new Error(`${violations.length} signs of two guests: ${violations.join('; ')}`);
  if (boots !== 1) throw new Error(`the guest was booted ${boots} times`);
}

/** Nothing that happened before stands in the way of a migration. @throws Error that says why it failed */
export async function migratesNow(vm: string): Promise<void> {
  const { migration } = await nextMovement(vm);
  await createMigration(migration, vm);
  const { status } = await untilOver(migration);
  if (status?.phase !== 'Succeeded') {
    throw new Error(
      `${migration}, with nothing in its way: ${status?.phase}, ${status?.migrationState?.failureReason}`,
    );
  }
  await untilTraceless(vm);
}
