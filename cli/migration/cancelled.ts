import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { clause, command } from '../words.ts';
import { phaseOf, type Migration } from './objects.ts';
import { stateOf, type MigrationSummary } from './summary.ts';

/** The guest runs on the target, as far as the VMI tells: nothing can take that back. The controller has the last word, this spares a question. */
export const switchedOver = (migration: Migration, vmi: VirtualMachineInstance | undefined): boolean =>
  stateOf(migration, vmi)?.targetNodeDomainReadyTimestamp !== undefined;

/** Why there is nothing to cancel; the last migration may have succeeded a moment ago and still remove its source Pod. */
export function nothingToCancel(name: { namespace: string; name: string }, last: Migration | undefined): string {
  const nothing = `${name.name} is not being migrated: there is nothing to cancel.`;
  return last && phaseOf(last) === 'Succeeded'
    ? `${nothing} Its last migration, ${last.metadata?.name}, has succeeded; to bring the guest back: ${command('migrate', name)}`
    : nothing;
}

/** What became of a migration that was asked to end, in a sentence. */
export function whatBecame(
  { outcome, migration, failure, target, runsOn }: MigrationSummary,
  vmi: VirtualMachineInstance | undefined,
  name: { namespace: string; name: string },
): { cancelled: boolean; text: string } {
  const node = vmi?.status?.nodeName;
  if (outcome === 'succeeded' || (outcome === 'unknown' && target !== undefined && node === target))
    return {
      cancelled: false,
      text: `too late: ${migration.name} had switched the guest over; ${name.name} runs on ${target ?? node ?? 'the other node'}. Its object is gone, ${command('history', name)} has it. To bring it back: ${command('migrate', name)}`,
    };
  if (!vmi) return { cancelled: true, text: `${migration.name} is over; ${name.name} has no instance any more` };
  const where = `${name.name} ${runsOn === undefined ? 'does not run' : `runs on ${runsOn}`}`;
  if (outcome === 'failed')
    return {
      cancelled: true,
      text: `${migration.name} had failed before it could be cancelled${failure ? ` (${clause(failure.message)})` : ''}; ${where}`,
    };
  return { cancelled: true, text: `${migration.name} is cancelled; ${where}` };
}
