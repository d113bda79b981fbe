import { CancellationScope, log } from '@temporalio/workflow';
import type { StartShown } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { reportOfStart } from '../instance/report.ts';
import { isDefect, toFailureInfo } from '../shared/failures.ts';
import { localActivities } from '../shared/proxies.ts';

/**
 * Writes the VMI's status as far as the start knows it, for an entity that hears nothing of a start that goes well before its end (docs/adr/0027).
 * Whether it is written; if it cannot be, the entity does.
 */
export const showStart = async (vmi: ObjectRef, start: StartShown): Promise<boolean> => {
  if (CancellationScope.current().consideredCancelled) return false;
  const report = reportOfStart(vmi, start);
  try {
    await localActivities(`Publish ${report.phase}`).publishInstance({ vmi, report });
    return true;
  } catch (error) {
    if (isDefect(error)) throw error;
    log.warn('status refused', { failure: toFailureInfo(error) });
    return false;
  }
};
