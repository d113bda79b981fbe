import { readNewMigrationPolicy, validateMigrationPolicy } from '../../../api/validation/index.ts';
import type { Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';

/** Refuses a policy whose settings no migration can have. */
export const validateMigrationPolicyRequest = (): Judge => (request) => {
  if (request.object == null) return ALLOWED;
  const read = readNewMigrationPolicy(request.object);
  return refusedFor(request, read.object === undefined ? read.causes : validateMigrationPolicy(read.object));
};
