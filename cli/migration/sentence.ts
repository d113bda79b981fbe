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
  const where = runsOn === undefined ? '' : ` The guest runs on node ${runsOn}.`;
  switch (outcome) {
    case 'succeeded':
      return undefined;
    case 'cancelled':
      return `${object} was cancelled${clause(why)}.${where}`;
    case 'running':
      return `${object} is not over after ${timeout} s; it goes on. See: ${command('diagnose', name)}; end it: ${command('cancel', name)}`;
    case 'unknown':
      return `${object} was deleted; what became of it cannot be seen. See: ${command('status', name)}`;
    case 'failed':
      return `${object} failed${clause(why)}.${where} What to do: ${remedyFor(failure?.type ?? 'Unknown', name)}.`;
  }
}
