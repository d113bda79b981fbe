import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import type { Cause } from '../../../api/validation/index.ts';
import {
  inTemplate,
  readNewReplicaSet,
  unsupportedFeatures,
  validateReplicaSet,
} from '../../../api/validation/index.ts';
import type { AdmissionPorts } from './ports.ts';
import { requester } from './ports.ts';
import type { Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';
import { warningsFor } from './warnings.ts';

/** Refuses a replica set whose VMIs could not be, or which would not find them. */
export const validateReplicaSetRequest =
  (ports: AdmissionPorts): Judge =>
  (request) => {
    if (request.object == null) return ALLOWED;
    const read = readNewReplicaSet(request.object);
    if (read.object === undefined) return refusedFor(request, read.causes);
    const config = ports.config();
    const causes = validateReplicaSet(read.object, config, requester(ports, request));
    if (causes.length > 0) return refusedFor(request, causes);
    return { allowed: true, warnings: warningsFor(notYet(read.object, config)) };
  };

/** What is taken but cannot run yet. */
const notYet = ({ spec }: VirtualMachineInstanceReplicaSet, config: ClusterConfig): Cause[] => {
  const { metadata = {}, spec: template } = spec.template;
  if (template === undefined) return [];
  return inTemplate(unsupportedFeatures(withDefaults({ metadata, spec: template }, config), config));
};
