import type { EvacuationResult, EvacuationView, Leaving, LeavingStatus } from '../../api/contract/evacuation.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { after } from '../shared/time.ts';

/** After a failed migration of an instance the next one waits so long, twice as long after each further failure (KubeVirt's figures). */
const BACKOFF_MS = 20_000;
/** Of a VMI's finished migrations five stay, and the failures are counted by them: KubeVirt waits no longer either. */
const BACKOFF_MAX_MS = 320_000;
/** After a migration that could not even be created. */
export const REFUSED_MS = 60_000;

/** What an evacuation cannot read anywhere; JSON only. */
export interface Memory {
  /** RFC 3339 */
  since: string;
  /** The node was seen cordoned: made schedulable again, it need not be emptied any more. */
  wasCordoned: boolean;
  uncordoned: boolean;
  created: number;
  /** By uid of the VMI: its migration could not be created. */
  refused: Record<string, { failure: FailureInfo; retryAt: string }>;
  /** By uid of the VMI: the failed migration of which it was told that the next one is put off. */
  told: Record<string, string>;
}

export interface Plan {
  leaving: LeavingStatus[];
  create: ObjectRef[];
  /** The front door's request is taken back. */
  withdraw: ObjectRef[];
  /** Migrations to delete. */
  cancel: ObjectRef[];
  /** To be told. */
  backoffs: { vmi: ObjectRef; failed: string; until: string }[];
  /** When to go on although nothing is heard. */
  wakeAt?: string;
  end?: EvacuationResult['end'];
}

/** @param at now; RFC 3339 */
export const initialMemory = (at: string): Memory => ({
  ...{ since: at, wasCordoned: false, uncordoned: false, created: 0, refused: {}, told: {} },
});

/**
 * What is done for a node as it is now. Pure.
 * @param at now; RFC 3339
 */
export const plan = (view: EvacuationView, memory: Memory, at: string): Plan => {
  const isTakenBack = memory.wasCordoned && !view.cordoned;
  const withdraw = isTakenBack ? view.leaving.filter(isOurs).map(({ vmi }) => vmi) : [];
  const leaving = view.leaving.map((one) => standingOf(one, memory, at));
  const toBegin = leaving.filter(({ vmi, standing }) => standing === 'beginning' && !withdraw.includes(vmi));
  const waits = leaving.flatMap(({ nextTryAt }) => nextTryAt ?? []).sort();
  const end = endOf(view, memory);
  return {
    ...{ leaving, withdraw, create: toBegin.map(({ vmi }) => vmi), cancel: view.unwanted },
    backoffs: leaving.flatMap((one) => untold(one, memory)),
    ...(waits[0] === undefined ? {} : { wakeAt: waits[0] }),
    ...(end === undefined ? {} : { end }),
  };
};

/** Another controller was asked, and settles it by itself; a taint is not ours to take back. */
const isOurs = ({ by, obstacle }: Leaving): boolean => by === 'eviction' && obstacle?.reason !== 'External';

const endOf = ({ gone, leaving, unwanted }: EvacuationView, { uncordoned }: Memory): Plan['end'] => {
  if (gone === true) return 'nodeGone';
  if (leaving.length > 0 || unwanted.length > 0) return undefined;
  return uncordoned ? 'uncordoned' : 'done';
};

const standingOf = ({ vmi, migration, obstacle, failed }: Leaving, memory: Memory, at: string): LeavingStatus => {
  if (migration !== undefined) {
    const { name, phase } = migration;
    return { vmi, standing: 'moving', migration: name, why: `migration ${name} is ${phase}` };
  }
  if (obstacle !== undefined) return { vmi, standing: 'obstructed', why: obstacle.message };
  const refused = memory.refused[vmi.uid];
  if (refused !== undefined && refused.retryAt > at) {
    const { failure, retryAt } = refused;
    return { vmi, standing: 'refused', why: failure.message, nextTryAt: retryAt };
  }
  const nextTryAt = failed === undefined ? at : after(failed.at, backoffMs(failed.count));
  if (failed === undefined || nextTryAt <= at)
    return { vmi, standing: 'beginning', why: 'its migration is about to be created' };
  const times = failed.count === 1 ? '' : `, the ${failed.count}th in a row`;
  const why = `migration ${failed.name} failed${times}: ${failed.message}`;
  return { vmi, standing: 'backingOff', migration: failed.name, why, nextTryAt };
};

/** @param failures in a row, from 1 */
export const backoffMs = (failures: number): number => Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** (failures - 1));

const untold = ({ vmi, standing, migration, nextTryAt }: LeavingStatus, { told }: Memory): Plan['backoffs'] => {
  if (standing !== 'backingOff' || migration === undefined || nextTryAt === undefined) return [];
  return told[vmi.uid] === migration ? [] : [{ vmi, failed: migration, until: nextTryAt }];
};
