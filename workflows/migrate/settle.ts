import { CancellationScope, condition } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import { FAILURES } from '../../api/contract/failures.ts';
import type { CarryOut } from '../../api/contract/migrations.ts';
import type { Round } from '../operation/operation.ts';
import { backOffMs } from '../operation/patience.ts';
import { msUntil, now } from '../shared/time.ts';
import type { Carried } from './activity.ts';
import { beginCarrying } from './activity.ts';
import type { Parties, Seen, Settled } from './look.ts';
import { cancelAtSource, look } from './look.ts';
import type { Migration } from './migration.ts';

/** How long MigrateVMI is waited for after the source has taken note of the cancellation: as long as libvirt takes to give a silent peer up. */
const OWN_WORD_MS = 30_000;
/** How long a migration that has not begun is tried to begin. */
const BEGINS_WITHIN_MS = 60_000;
/** From this look on, or after one that took so long, it is worth telling that nobody knows. */
const TOLD_FROM_LOOK = 2;
const LONG_LOOK_MS = 4_000;
const LONGEST_PAUSE_MS = 30_000;
/** From here on it can take any time, and no wait may fill a history. */
const SELDOM_FROM_LOOK = 20;

export interface Carrying {
  parties: Parties;
  /** MigrateVMI; absent: an earlier run has begun it, and it goes on by itself or not at all. */
  carryOut?: CarryOut;
  /** Why it is to be cancelled; undefined: it is not. */
  stop: () => string | undefined;
}

/**
 * Carries a migration out until it is known who has the guest, however long that takes. A clear answer of MigrateVMI is believed; after anything else,
 * and when it is to be cancelled and gives no answer, the evidence decides. Not cancellable: what cancels it is `stop`.
 */
export const settled = (migration: Migration, carrying: Carrying, round: Round): Promise<Settled> =>
  CancellationScope.nonCancellable(() => settle(migration, carrying, round));

const settle = async (migration: Migration, { parties, carryOut, stop }: Carrying, round: Round): Promise<Settled> => {
  const since = now();
  const isLate = (): boolean => msUntil(now(), since) >= BEGINS_WITHIN_MS;
  const named = (what: string, look: number): string => `${round.summary}, ${what} ${look}`;
  let activity = carryOut === undefined ? undefined : beginCarrying(carryOut, round.summary);
  /** Some worker has taken it, so that it may have begun. */
  let wasTaken = carryOut === undefined;
  let knowsToStop = false;
  const mustTell = (): boolean => !knowsToStop && stop() !== undefined;

  for (let looks = 1; ; looks += 1) {
    await wordOf(activity, mustTell, knowsToStop);
    const verdict = activity?.verdict();
    if (verdict !== undefined) return verdict;
    const failure = activity?.failure();
    wasTaken ||= failure !== undefined && failure.type !== 'NoWorker';
    // A queue that nobody serves has begun nothing.
    const isUntouched = failure !== undefined && !wasTaken;
    if (isUntouched && (stop() !== undefined || isLate())) {
      return { kind: 'stayed', cause: 'never', message: failure.message };
    }
    // Told and asked at the same time: whoever is frozen answers neither.
    const telling = mustTell() ? cancelAtSource(migration, parties.source, named('cancel', looks)) : undefined;
    const mayBegin = failure !== undefined && mayPass(failure) && stop() === undefined && !isLate();
    void telling?.then((answer) => (knowsToStop = !('failure' in answer)));
    const began = now();
    const looking = isUntouched
      ? Promise.resolve<Seen>({ kind: 'again' })
      : look(migration, parties, { summary: named('look', looks), mayBegin });
    const sight = await unlessTold(activity, Promise.all([looking, telling]));
    const isWorthTelling = looks >= TOLD_FROM_LOOK || msUntil(now(), began) >= LONG_LOOK_MS;
    const isUnknown = sight.kind === 'unknown' && isWorthTelling;
    tellUnknown(migration, round, isUnknown ? sight.message : undefined);
    if (isSettled(sight)) return withCause(sight, failure);
    await pause(migration, activity, looks);
    const mayAttach = sight.kind === 'underWay' || (sight.kind === 'again' && stop() === undefined);
    if (carryOut !== undefined && failure !== undefined && mayAttach) {
      activity = beginCarrying(carryOut, named('attach', looks + 1));
    }
  }
};

/** What was seen, or the verdict of MigrateVMI if it comes first: it is worth more, and a frozen process can keep a look waiting. */
const unlessTold = async (activity: Carried | undefined, looking: Promise<[Seen, unknown]>): Promise<Seen> => {
  let seen: Seen | undefined;
  let defect: unknown;
  looking.then(
    ([sight]) => (seen = sight),
    (error: unknown) => (defect = error),
  );
  await condition(() => seen !== undefined || defect !== undefined || activity?.verdict() !== undefined);
  if (defect !== undefined) throw defect as Error;
  return activity?.verdict() ?? seen ?? { kind: 'again' };
};

/** Waits for the end of MigrateVMI, or until the source must be told to stop. Once it knows, not longer than it can take. */
const wordOf = async (activity: Carried | undefined, mustTell: () => boolean, knowsToStop: boolean): Promise<void> => {
  if (activity === undefined) return;
  if (knowsToStop) await condition(activity.hasEnded, OWN_WORD_MS, { summary: 'MigrateVMI ends' });
  else await condition(() => activity.hasEnded() || mustTell());
};

const pause = async ({ op: { seen } }: Migration, activity: Carried | undefined, looks: number): Promise<void> => {
  const version = seen.version();
  const ms = looks > SELDOM_FROM_LOOK ? backOffMs(looks) : Math.min(backOffMs(looks), LONGEST_PAUSE_MS);
  const isWoken = (): boolean => seen.version() > version || activity?.verdict() !== undefined;
  await condition(isWoken, ms, { summary: 'until the next look' });
};

const isSettled = (sight: Seen): sight is Settled =>
  sight.kind === 'moved' || sight.kind === 'stayed' || sight.kind === 'lost';

const mayPass = ({ type }: FailureInfo): boolean => type === 'Unknown' || FAILURES[type].retryable;

/** What made MigrateVMI fail says more than that it never began. */
const withCause = (sight: Settled, failure: FailureInfo | undefined): Settled =>
  sight.kind === 'stayed' && sight.cause === 'never' && failure !== undefined
    ? { ...sight, message: failure.message }
    : sight;

const tellUnknown = ({ report, tell }: Migration, round: Round, message: string | undefined): void => {
  if (message === report.now().outcomeUnknown) return;
  tell({ outcomeUnknown: message });
  round.trouble(message === undefined ? undefined : { type: 'MigrationOutcomeUnknown', message });
  report.publish();
};
