import type { MigrationEvidence, MigrationVerdict } from '../../api/contract/migrations.ts';
import type { MigrationView } from '../../api/launcher/migration.ts';

type Stayed = Extract<MigrationVerdict, { kind: 'stayed' }>;

/** What the evidence says of a migration. */
export type Resolution =
  /** The guest runs in the target. */
  | { kind: 'forward' }
  /** The source is gone and the target holds the guest, which nobody has resumed. */
  | { kind: 'resume' }
  /** The source keeps the guest for good: it is barred there. */
  | Stayed
  /** The source has the guest and is not barred: it may still be carried out. */
  | { kind: 'bar' }
  /** It is being carried out; after the switch of a post-copy it cannot be taken back at all. */
  | { kind: 'underWay' }
  /** Neither Pod has the guest. */
  | { kind: 'lost'; message: string }
  | { kind: 'unknown'; message: string };

/**
 * Who has the guest. Pure. Only proof counts: an answer that is missing says nothing, neither of the source nor of the target.
 */
export const resolve = ({ source, target, sourceProvenGone, targetProvenGone }: MigrationEvidence): Resolution => {
  const isBarred = source?.outcome?.kind === 'sourceActive';
  const isSwitched = source?.postCopy === true || target?.postCopy === true;
  const mayNeedSource = source === undefined ? sourceProvenGone !== true : source.job || source.domain === 'active';
  if (isSwitched && mayNeedSource) {
    return { kind: 'underWay' };
  }
  if (target?.resumed === true) {
    return isBarred || source?.domain === 'active'
      ? unknown(
          'both source and target say that they have the guest: destroy none of them, and read the logs of both launchers',
        )
      : { kind: 'forward' };
  }
  if (source?.outcome?.kind === 'sourceActive') {
    const { cause, message, numbers } = source.outcome;
    return { kind: 'stayed', cause, message, ...(numbers === undefined ? {} : { numbers }) };
  }
  if (source?.job === true) return { kind: 'underWay' };
  if (sourceProvenGone === true || isGone(source)) return withoutSource(target, targetProvenGone === true);
  if (source?.domain === 'active' && source.outcome === undefined) return { kind: 'bar' };
  return unknown(
    source === undefined
      ? "nothing answers for the source's Pod; bring its node, node worker or launcher back, or fence the node"
      : `the source's launcher does not know the state of its domain${source.outcome?.kind === 'unknown' ? ` (${source.outcome.message})` : ''}`,
  );
};

const withoutSource = (target: MigrationView | undefined, provenGone: boolean): Resolution => {
  if (target?.domain === 'incoming' || target?.domain === 'active') return { kind: 'resume' };
  if (provenGone || target?.domain === 'none') {
    return { kind: 'lost', message: 'the guest is lost: neither source nor target has it any more' };
  }
  return unknown(
    target === undefined
      ? "the source is gone and nothing answers for the target's Pod; bring its node, node worker or launcher back, or fence the node"
      : "the source is gone and the target's launcher does not know the state of its domain",
  );
};

/** Its launcher proves it. */
const isGone = (source: MigrationView | undefined): boolean =>
  source?.domain === 'none' && !source.job && source.outcome?.kind !== 'unknown';

const unknown = (message: string): Resolution => ({ kind: 'unknown', message });
