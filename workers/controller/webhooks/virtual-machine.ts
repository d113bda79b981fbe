import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { newVirtualMachine, withDefaults } from '../../../api/defaults/index.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { Cause } from '../../../api/validation/index.ts';
import {
  inTemplate,
  readNewVirtualMachine,
  unsupportedFeatures,
  validateVirtualMachine,
  validateVirtualMachineStatus,
} from '../../../api/validation/index.ts';
import { followReferences, settleReferences } from './instance-types.ts';
import { isSame, patchOf } from './patch.ts';
import type { AdmissionPorts } from './ports.ts';
import { freshOf, requester } from './ports.ts';
import type { AdmissionRequest, Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';
import { warningsFor } from './warnings.ts';

/** Settles in a VM what must not be chosen anew at each start. */
export const mutateVirtualMachine =
  (ports: AdmissionPorts): Judge =>
  async (request) => {
    const { object } = request;
    if (object == null || leavesSpec(request)) return ALLOWED;
    const read = readNewVirtualMachine(object);
    if (read.object === undefined) return refusedFor(request, read.causes);
    const settled = await settleReferences(ports.kube, read.object);
    if (settled.vm === undefined) return refusedFor(request, settled.causes);
    const kept = withIdentityOf(readNewVirtualMachine(request.oldObject ?? {}).object, settled.vm);
    return { allowed: true, patch: patchOf(object, newVirtualMachine(kept, ports.config(), freshOf(ports))) };
  };

/** Refuses a VM, or a change of its spec, that cannot work. */
export const validateVirtualMachineRequest =
  (ports: AdmissionPorts): Judge =>
  async (request) => {
    const { object, oldObject } = request;
    if (object == null || leavesSpec(request)) return ALLOWED;
    const read = readNewVirtualMachine(object);
    if (read.object === undefined) return refusedFor(request, read.causes);
    const config = ports.config();
    const old = readNewVirtualMachine(oldObject ?? {}).object;
    const { vm, causes: ofReferences, missing } = await followReferences(ports.kube, read.object, config);
    const causes = [...ofReferences, ...validateVirtualMachine(vm, config, requester(ports, request), old)];
    if (causes.length > 0) return refusedFor(request, causes);
    return { allowed: true, warnings: warningsFor([...missing, ...notYet(vm, config)]) };
  };

/** Refuses requests in a VM's status that cannot be carried out. Its other fields are the system's to write; nobody else's roles have them. */
export const validateStatusRequest =
  (ports: AdmissionPorts): Judge =>
  (request) => {
    const { object } = request;
    if (object == null || isDeleted(object)) return ALLOWED;
    const read = readNewVirtualMachine(object);
    return refusedFor(
      request,
      read.object === undefined ? read.causes : validateVirtualMachineStatus(read.object, ports.config()),
    );
  };

/**
 * Whether a change concerns no rule: finalizers, labels, a VM that is being deleted. One that was stored while nobody looked, or under another
 * configuration, must not be stuck for that.
 */
const leavesSpec = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === 'UPDATE' && (isDeleted(object) || isSame(object?.['spec'], oldObject?.['spec']));

const isDeleted = (object: AdmissionRequest['object']): boolean => {
  const metadata = object?.['metadata'];
  return typeof metadata === 'object' && metadata !== null && 'deletionTimestamp' in metadata;
};

/** A guest keeps its firmware's UUID and serial when the user's manifest, which names neither, replaces the VM. */
const withIdentityOf = (old: VirtualMachine | undefined, vm: VirtualMachine): VirtualMachine => {
  const { uuid, serial } = old?.spec.template.spec?.domain.firmware ?? {};
  const complete = structuredClone(vm);
  const spec = complete.spec.template.spec;
  if (spec === undefined) return complete;
  const firmware = (spec.domain.firmware ??= {});
  if (uuid !== undefined) firmware.uuid ||= uuid;
  if (serial !== undefined) firmware.serial ||= serial;
  return complete;
};

/** What is taken but cannot run yet. */
const notYet = ({ spec }: VirtualMachine, config: ClusterConfig): Cause[] => {
  const { metadata = {}, spec: template } = spec.template;
  return template === undefined
    ? []
    : inTemplate(unsupportedFeatures(withDefaults({ metadata, spec: template }, config), config));
};
