import { remedyFor } from '../remedies.ts';
import { clause, command } from '../words.ts';
import type { MigrationSummary } from './summary.ts';

/** What to say of a migration that did not succeed; undefined: it did. */
export function sentence(
  { outcome, migration, failure, runsOn }: MigrationSummary,
  name: { namespace: string; name: string },
  timeout?: number,
): string | undefined {
  const object = `migration ${migration.namespace}/${migration.name} of ${name.name}`;
  const why =
    failure === undefined ? '' : `: ${failure.type === 'Unknown' ? '' : `${failure.type}: `}${failure.message}`;
  const where = runsOn === undefined ? '' : ` The guest runs on ${runsOn}.`;
  switch (outcome) {
    case 'succeeded':
      return undefined;
    case 'cancelled':
      return `${object} was cancelled${causeOf(failure?.message)}.${where}`;
    case 'running':
      return `${object} is not over after ${timeout} s; it goes on. See: ${command('diagnose', name)}; end it: ${command('cancel', name)}`;
    case 'unknown':
      return `${object} was deleted; what became of it cannot be seen. See: ${command('status', name)}`;
    case 'failed':
      return `${object} failed${clause(why)}.${where} What to do: ${remedyFor(failure?.type ?? 'Unknown', name, failure?.message)}.`;
  }
}

/** Who cancelled it, out of the workflow's message; where the guest runs is told anyway. */
function causeOf(message: string | undefined): string {
  const [, cause] = /^cancelled: (.+?)\.?( The guest .*)?$/s.exec(message ?? '') ?? [];
  return cause === undefined ? '' : `: ${cause}`;
}
