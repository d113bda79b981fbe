import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { AdmittedMigration, MigrateInput } from '../../api/contract/migrations.ts';
import type { OperationResult } from '../../api/contract/operations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import { operation } from '../operation/operation.ts';
import { controllerActivities, longNodeActivities, promptNodeActivities } from '../shared/proxies.ts';
import { now } from '../shared/time.ts';
import { together } from '../shared/together.ts';
import { admitted } from './admit.ts';
import { goForward } from './finalize.ts';
import type { Migration } from './migration.ts';
import { newMigration } from './migration.ts';
import { moved, sourceClosed } from './move.ts';
import { permitAcquired, permitReturned } from './permit.ts';
import { accepted, proposed } from './propose.ts';
import { newReport } from './report.ts';
import { takeUp } from './take-up.ts';
import { targetAbandoned, targetReady, targetRemoved, whileTargetLasts } from './target-pod.ts';
import { tokenStays } from './token.ts';

/** How long the source's launcher may be silent before the migration begins. */
const INSPECTED_WITHIN_MS = 60_000;
/** How long the token's Lease may be out of reach. */
const RECORDED_WITHIN_MS = 60_000;

/** Moves a running VMI to another node: AdmitMigration → … → PrepareMigrationTarget → MigrateVMI → FinalizeMigration → … → RetireSource. */
export async function migrateInstance(input: MigrateInput): Promise<OperationResult> {
  const report = newReport(input.migration);
  const onTrouble = report.trouble;
  try {
    return await operation(
      'migrate',
      input,
      (op) => {
        const migration = newMigration(op, input, report);
        return migration.telling(() => migrate(migration));
      },
      { persistent: true, onTrouble },
    );
  } finally {
    await CancellationScope.nonCancellable(report.written);
  }
}

const migrate = async (migration: Migration): Promise<void> => {
  const { op, whileWanted } = migration;
  migration.enter('Pending');
  // Its answer is on its way while the objects are looked at.
  const asked = proposed(migration);
  // What an earlier run has left must be known, whoever cancels.
  const admission = await CancellationScope.nonCancellable(() =>
    op.step('AdmitMigration', { run: (round) => admitted(migration, round) }),
  );
  const { left, admitted: wanted } = admission;
  if (left !== undefined && (left.state !== 'prepared' || wanted === undefined)) {
    return CancellationScope.nonCancellable(() => takeUp(migration, left, admission));
  }
  if (wanted === undefined) throw new CancelledFailure('cancelled before anything was done');
  await whileWanted(() => carryOut(migration, wanted, asked));
};

const carryOut = async (migration: Migration, admission: AdmittedMigration, asked: Promise<boolean>): Promise<void> => {
  const { op, on, enter, say, tell } = migration;
  const { step } = op;
  say({ options: admission.options });
  const { source, epoch } = await step('ProposeMigration', { run: (round) => accepted(migration, asked, round) });
  say({ source });
  const request = { sourceNode: source.node, priority: admission.priority };
  await step('AcquirePermit', { run: (round) => permitAcquired(migration, request, round), always: permitReturned });

  let created: PodRef | undefined;
  const pod = await step('CreateTargetPod', {
    limitMs: admission.timeouts.pending * 1000,
    run: async ({ summary }) => {
      const facts = await controllerActivities(summary).ensureTargetPod({ ...on, source, epoch });
      created = { name: facts.name, uid: facts.uid };
      return facts;
    },
    undo: (round) => {
      migration.stays();
      return targetRemoved(migration, created, round);
    },
  });
  tell({ target: { name: pod.name, uid: pod.uid } });
  enter('Scheduling');
  const [target, disks] = await together(
    () => step('AwaitTargetPod', { run: (round) => targetReady(migration, pod, admission, round) }),
    () =>
      step('InspectSource', {
        ...{ node: source.node, limitMs: INSPECTED_WITHIN_MS },
        run: async ({ summary }) => {
          const view = await promptNodeActivities(source.node, summary).inspectMigration({ ...on, pod: source });
          return view.copiedDisks ?? [];
        },
      }),
  );
  say({ target });
  enter('Scheduled');

  enter('PreparingTarget');
  // The token may say early that the guest moves; late it may not. It is taken back before the target: that the guest stays is known at once.
  const [endpoint] = await together(
    () =>
      step('PrepareMigrationTarget', {
        ...{ node: target.node, limitMs: admission.timeouts.pending * 1000 },
        run: ({ summary }) => {
          const { prepareMigrationTarget } = longNodeActivities(target.node, summary);
          const request = { ...on, pod: target, source, epoch, disks };
          return whileTargetLasts(migration, target, () => prepareMigrationTarget(request));
        },
        undo: (round) => targetAbandoned(migration, target, round),
      }),
    () =>
      step('RecordMove', {
        limitMs: RECORDED_WITHIN_MS,
        run: ({ summary }) => controllerActivities(summary).recordMove({ ...on, source, target, epoch }),
        undo: (round) => tokenStays(migration, source, round),
      }),
  );
  say({ targetAddress: endpoint.address });
  enter('TargetReady');

  say({ startedAt: now() });
  enter('Running');
  const { options } = admission;
  await step('MigrateVMI', {
    node: source.node,
    run: (round) => moved(migration, { ...on, pod: source, target, endpoint, epoch, options }, round),
    undo: (round) => sourceClosed(migration, source, round),
  });
  await op.pointOfNoReturn(() => goForward(migration, { source, target }, epoch));
};
