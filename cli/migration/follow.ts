import { setTimeout as pause } from 'node:timers/promises';
import type { KubePort } from '../../activities/kube/port.ts';
import type { Display, Shown } from '../display.ts';
import { talking } from '../virtual-machine.ts';
import { briefly, clause, duration } from '../words.ts';
import { currentStep, type Told } from '../temporal/operations.ts';
import { isOver, phaseOf, refOf, toldBy, type Migration } from './objects.ts';
import { belongs } from './steps.ts';
import type { Heard, Watch } from './watch.ts';
import { progressInWords, route } from './words.ts';

const POLL_MS = 500;

/** Where following ended. */
export interface Followed {
  /** The object as it was seen last. */
  last: Migration;
  /** It was deleted. */
  gone: boolean;
  /** Nobody waits any longer; the migration may go on. */
  late: boolean;
}

/**
 * Follows a migration until it is over, its object is gone, or `until` (ms since the epoch) has passed. Phases come from the object, so this works
 * without Temporal.
 */
export async function follow(
  kube: Pick<KubePort, 'get'>,
  migration: Migration,
  watch: Pick<Watch, 'heard'>,
  display: Display,
  { until = Infinity, pollMs = POLL_MS }: { until?: number; pollMs?: number } = {},
): Promise<Followed> {
  const { namespace, name, uid } = refOf(migration);
  let last = migration;
  for (;;) {
    const found = await talking(`reading VirtualMachineInstanceMigration ${namespace}/${name}`, () =>
      kube.get('VirtualMachineInstanceMigration', { namespace, name }),
    );
    const gone = found?.metadata?.uid !== uid;
    if (!gone && found) last = found;
    display.show(shownOf(last, watch.heard(), new Date().toISOString()));
    if (gone || isOver(last)) return { last, gone, late: false };
    if (Date.now() > until) return { last, gone, late: true };
    await pause(pollMs);
  }
}

/** What to show of a migration under way. */
export function shownOf(migration: Migration, { status, progress, silence }: Heard, now: string): Shown {
  const phase = migration.metadata?.deletionTimestamp && !isOver(migration) ? 'cancelling' : phaseOf(migration);
  const { sourceNode, targetNode } = migration.status?.migrationState ?? {};
  const way = route(status?.migration?.source?.node ?? sourceNode, status?.migration?.target?.node ?? targetNode);
  const headline = way === '' ? phase : `${phase} (${way})`;
  const obstacle = status ? obstacleIn(status, now) : obstacleOn(migration);
  if (obstacle !== undefined) return { headline: `${headline}, ${obstacle}` };
  if (phaseOf(migration) === 'Running' && progress)
    return { headline, detail: progress.totalBytes === 0 ? 'connecting …' : progressInWords(progress) };
  if (silence !== undefined && !isOver(migration)) return { headline, detail: `no details: ${clause(silence)}` };
  const step = status && currentStep(status.steps);
  // Object and workflow are read at different moments: a step of another phase is no news of this one.
  return {
    headline,
    ...(step?.state === 'running' &&
      belongs(step.name, phaseOf(migration)) && { detail: `${step.name}, ${duration(step.startedAt, now)}` }),
  };
}

/** What stands in the way, in words. */
function obstacleIn(status: Told, now: string): string | undefined {
  if (status.migration?.outcomeUnknown !== undefined) return `outcome unknown: ${status.migration.outcomeUnknown}`;
  const step = currentStep(status.steps);
  if (!step?.failure || (step.state !== 'waiting' && step.state !== 'running')) return undefined;
  const next = step.nextTryAt === undefined ? '' : ` (next try in ${duration(now, step.nextTryAt)})`;
  return `waiting in ${step.name}: ${step.failure.type}: ${briefly(step.failure.message)}${next}`;
}

/** The same as far as the object tells. */
function obstacleOn(migration: Migration): string | undefined {
  const lost = toldBy(migration, 'MigrationOutcomeUnknown');
  if (lost) return `outcome unknown: ${lost.message}`;
  const waiting = toldBy(migration, 'Waiting');
  return waiting && `waiting: ${waiting.type}: ${briefly(waiting.message)}`;
}
