import { v5 as uuidOf } from 'uuid';
import { completeDisks } from '../defaults/index.ts';
import { VMI_FINALIZER, VM_FINALIZER } from '../kubevirt/finalizers.ts';
import { KUBEVIRT_API_VERSION } from '../kubevirt/types.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** KubeVirt's name space of firmware UUIDs: a guest keeps its licence and its identity when it comes from KubeVirt. */
const FIRMWARE_NAMESPACE = '6a1a24a1-4061-4607-8bf4-a3963d0c5895';

/** Phases of a memory dump that still needs its volume. */
const UNDER_WAY = ['Associating', 'InProgress'];

/**
 * The VMI that a start of this VM creates: the template, under the VM's name, owned and finalised. A firmware UUID that the template does not
 * name is derived from the VM's name, so that it stays the same over restarts. Defaults are filled in later, by `withDefaults`.
 */
export const toInstance = (vm: VirtualMachine): VirtualMachineInstance => {
  const { name = '', namespace = '', uid = '' } = vm.metadata ?? {};
  const template = structuredClone(vm.spec.template);
  const { labels, annotations } = template.metadata ?? {};
  return {
    apiVersion: KUBEVIRT_API_VERSION,
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      finalizers: [VMI_FINALIZER, VM_FINALIZER],
      ownerReferences: [
        {
          apiVersion: KUBEVIRT_API_VERSION,
          kind: 'VirtualMachine',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: specOf(vm, template.spec ?? { domain: { devices: {} } }),
  };
};

const specOf = (vm: VirtualMachine, spec: VirtualMachineInstanceSpec): VirtualMachineInstanceSpec => {
  const [request] = vm.status?.stateChangeRequests ?? [];
  if (request?.action === 'Start' && request.data?.['paused'] === 'true') spec.startStrategy = 'Paused';
  const dump = vm.status?.memoryDumpRequest;
  if (dump !== undefined && !UNDER_WAY.includes(dump.phase))
    spec.volumes = (spec.volumes ?? []).filter(({ name }) => name !== dump.claimName);
  const firmware = (spec.domain.firmware ??= {});
  firmware.uuid ||= uuidOf(vm.metadata?.name ?? '', FIRMWARE_NAMESPACE);
  spec.domain.devices ??= {};
  completeDisks(spec);
  return spec;
};
