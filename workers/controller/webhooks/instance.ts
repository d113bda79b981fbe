import { newInstance, withDefaults } from '../../../api/defaults/index.ts';
import {
  readNewInstance,
  unsupportedFeatures,
  validateInstance,
  validateInstanceUpdate,
} from '../../../api/validation/index.ts';
import { isSame, patchOf } from './patch.ts';
import type { AdmissionPorts } from './ports.ts';
import { freshOf, requester } from './ports.ts';
import type { AdmissionRequest, Judge, Verdict } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';
import { warningsFor } from './warnings.ts';

/** Fills in what a user leaves out of a new VMI; of a change of one, what is not a user's to write stays as it was: the status. */
export const mutateInstance =
  (ports: AdmissionPorts): Judge =>
  (request) => {
    const { object, oldObject, operation } = request;
    if (object == null) return ALLOWED;
    const { isSystem } = requester(ports, request);
    if (operation === 'UPDATE') {
      return isSystem || oldObject == null
        ? ALLOWED
        : { allowed: true, patch: patchOf(object, { ...object, status: oldObject['status'] }) };
    }
    // What runs is the system's to say from the first moment on.
    const { status: _, ...given } = object;
    const read = readNewInstance(isSystem ? object : given);
    if (read.object === undefined) return refusedFor(request, read.causes);
    return { allowed: true, patch: patchOf(object, newInstance(read.object, ports.config(), freshOf(ports))) };
  };

/** Refuses a VMI that cannot work, and changes of one that are not its requester's to make. */
export const validateInstanceRequest =
  (ports: AdmissionPorts): Judge =>
  (request) => {
    const { object, oldObject, operation } = request;
    if (object == null) return ALLOWED;
    if (operation === 'UPDATE') return validateChange(ports, request, object, oldObject ?? {});
    const read = readNewInstance(object);
    if (read.object === undefined) return refusedFor(request, read.causes);
    const config = ports.config();
    const vmi = withDefaults(read.object, config);
    const causes = validateInstance(vmi, config, requester(ports, request));
    if (causes.length > 0) return refusedFor(request, causes);
    return { allowed: true, warnings: warningsFor(unsupportedFeatures(vmi, config)) };
  };

const validateChange = (
  ports: AdmissionPorts,
  request: AdmissionRequest,
  object: Record<string, unknown>,
  oldObject: Record<string, unknown>,
): Verdict => {
  const [after, before] = [readNewInstance(object), readNewInstance(oldObject)];
  if (after.object !== undefined && before.object !== undefined)
    return refusedFor(request, validateInstanceUpdate(after.object, before.object, requester(ports, request)));
  // One that was stored while nobody looked. Whoever takes away its finalizer must be able to.
  if (isSame(object['spec'], oldObject['spec'])) return ALLOWED;
  return refusedFor(request, after.causes.length > 0 ? after.causes : before.causes);
};
