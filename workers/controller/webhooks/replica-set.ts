import { readNewReplicaSet, validateReplicaSet } from '../../../api/validation/index.ts';
import type { AdmissionPorts } from './ports.ts';
import { requester } from './ports.ts';
import type { Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';

/** Refuses a replica set whose VMIs could not be, or which would not find them. */
export const validateReplicaSetRequest =
  (ports: AdmissionPorts): Judge =>
  (request) => {
    if (request.object == null) return ALLOWED;
    const read = readNewReplicaSet(request.object);
    if (read.object === undefined) return refusedFor(request, read.causes);
    const causes = validateReplicaSet(read.object, ports.config(), requester(ports, request));
    if (causes.length > 0) return refusedFor(request, causes);
    return { allowed: true, warnings: ['nothing acts on replica sets yet: create the VMIs, or VMs, one by one'] };
  };
