import type { InstanceFacts } from '../../api/contract/facts.ts';
import type { GuestEnd, ShutdownInput } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { after } from '../shared/time.ts';
import type { InstanceState, Running } from './state.ts';
import { hasLostNode, shallEnd } from './state.ts';

/** Why a guest that runs, or did, is to be shut down now; undefined: it runs on. */
export const reasonToStop = (state: InstanceState): { cause: ShutdownInput['cause']; end?: GuestEnd } | undefined => {
  const { domain, podFacts, witnessed } = state;
  const isOver = domain !== undefined && !hasMigrated(domain);
  if (isOver && (domain.state === 'shutoff' || domain.state === 'crashed')) {
    return { cause: 'guestStopped', end: endOf(domain) ?? (domain.state === 'crashed' ? 'crashed' : 'unknown') };
  }
  if (isOver && domain.state === 'none') return { cause: 'guestStopped' };
  if (hasLostNode(state)) return { cause: 'nodeFenced', end: witnessed ?? 'nodeLost' };
  if (shallEnd(state)) return { cause: 'deleted' };
  if (witnessed !== undefined) return { cause: 'guestStopped', end: witnessed };
  if (podFacts === undefined) return undefined;
  if (podFacts.deleting || podFacts.gone === true) return { cause: 'podDeleted' };
  if (podFacts.phase === 'Succeeded' || podFacts.phase === 'Failed') return { cause: 'guestStopped' };
  return undefined;
};

/** The domain has left, or is about to: that is not its guest's end. */
const hasMigrated = ({ state, end, migrationUid }: DomainReport): boolean =>
  end === 'migrated' || (state === 'none' && migrationUid !== undefined);

/** How the guest ended, as its launcher says; absent: it does not, or the guest has only gone elsewhere. */
export const endOf = ({ end }: Pick<DomainReport, 'end'>): GuestEnd | undefined =>
  end === 'migrated' ? undefined : end;

/** A grace period that became shorter while the guest is shut down brings its deadline forward. */
export const bringForward = (
  { deadline, graceSeconds }: Running,
  object: InstanceFacts | undefined,
  at: string,
): { deadline: string; graceSeconds: number } | undefined => {
  if (object === undefined || deadline === undefined || graceSeconds === undefined) return undefined;
  if (object.gracePeriodSeconds >= graceSeconds) return undefined;
  const sooner = after(at, object.gracePeriodSeconds * 1000);
  return sooner < deadline ? { deadline: sooner, graceSeconds: object.gracePeriodSeconds } : undefined;
};
