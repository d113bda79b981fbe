import type { FailureInfo } from '../../api/contract/failures.ts';
import type { CarryOut, MigrationVerdict } from '../../api/contract/migrations.ts';
import { isDefect, toFailureInfo } from '../shared/failures.ts';
import { migratingNodeActivities } from '../shared/proxies.ts';

/** MigrateVMI as it runs on the source's node. */
export interface Carried {
  verdict: () => MigrationVerdict | undefined;
  /** It ended without a verdict. */
  failure: () => FailureInfo | undefined;
  hasEnded: () => boolean;
}

/**
 * Begins MigrateVMI, or attaches to what was begun before. Must run where nothing cancels it. One that nobody waits for any more ends with the workflow
 * at the latest.
 */
export const beginCarrying = (request: CarryOut, summary: string): Carried => {
  const { node } = request.pod;
  let verdict: MigrationVerdict | undefined;
  let failure: FailureInfo | undefined;
  let defect: unknown;
  void migratingNodeActivities(node, summary)
    .migrateVMI(request)
    .then(
      (told) => (verdict = told),
      (error: unknown) => (isDefect(error) ? (defect = error) : (failure = toFailureInfo(error, node))),
    );
  const rethrow = (): void => {
    if (defect !== undefined) throw defect as Error;
  };
  return {
    verdict: () => verdict,
    failure: () => failure,
    hasEnded: () => {
      rethrow();
      return verdict !== undefined || failure !== undefined;
    },
  };
};
