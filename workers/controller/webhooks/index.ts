import type { Registry } from 'prom-client';
import type { Logger } from '../../shared/logging.ts';
import type { HttpsHandlers } from '../https/server.ts';
import { judgeEviction } from './eviction.ts';
import { webhookHandlers } from './handlers.ts';
import { mutateInstance, validateInstanceRequest } from './instance.ts';
import { validateInstancetypeRequest, validatePreferenceRequest } from './instance-types.ts';
import { validateKubeVirtRequest } from './kubevirt.ts';
import { reviewMetrics } from './metrics.ts';
import { mutateMigration, validateMigrationRequest } from './migration.ts';
import { validateMigrationPolicyRequest } from './migration-policy.ts';
import type { AdmissionPorts } from './ports.ts';
import { validateReplicaSetRequest } from './replica-set.ts';
import type { Judge } from './review.ts';
import { mutateVirtualMachine, validateStatusRequest, validateVirtualMachineRequest } from './virtual-machine.ts';

export { admissionCaches } from './caches.ts';
export type { AdmissionPorts } from './ports.ts';

/** Every webhook by its path; deploy/base/webhooks.yaml leads there. */
export const judges = (ports: AdmissionPorts): Record<string, Judge> => ({
  '/mutate/virtualmachines': mutateVirtualMachine(ports),
  '/mutate/virtualmachineinstances': mutateInstance(ports),
  '/mutate/virtualmachineinstancemigrations': mutateMigration(),
  '/validate/virtualmachines': validateVirtualMachineRequest(ports),
  '/validate/virtualmachines-status': validateStatusRequest(ports),
  '/validate/virtualmachineinstances': validateInstanceRequest(ports),
  '/validate/virtualmachineinstancemigrations': validateMigrationRequest(ports),
  '/validate/virtualmachineinstancereplicasets': validateReplicaSetRequest(ports),
  '/validate/migrationpolicies': validateMigrationPolicyRequest(),
  '/validate/instancetypes': validateInstancetypeRequest(),
  '/validate/preferences': validatePreferenceRequest(),
  '/validate/kubevirts': validateKubeVirtRequest(ports),
  '/validate/pods-eviction': judgeEviction(ports),
});

/** Admission as mounts of the HTTPS server. */
export const admission = (
  ports: AdmissionPorts,
  { log, register }: { log: Logger; register: Registry },
): Record<string, HttpsHandlers> => {
  const handlers = webhookHandlers(judges(ports), { log, metrics: reviewMetrics(register) });
  return { '/mutate': handlers, '/validate': handlers };
};
