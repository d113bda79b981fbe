import { createHash } from 'node:crypto';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { COMPUTE } from '../../facts/labels.ts';

/** Name of the Pod that claims of a VMI are bound for, before there is a launcher Pod: one for each VMI. */
export const firstConsumerName = ({ metadata }: VirtualMachineInstance): string =>
  `virt-provision-${createHash('sha256')
    .update(metadata?.uid ?? '')
    .digest('hex')
    .slice(0, 16)}`;

/**
 * A Pod that is scheduled where the VMI's launcher Pod could be, uses the same claims, and ends at once: claims that are bound for their first consumer
 * are bound by it, so that they can be filled. It bears none of the VMI's labels, since nothing may take it for the VMI (KubeVirt's annotation tells
 * what it is).
 * @param pod launcher Pod of the VMI
 */
export const asFirstConsumer = ({ metadata, spec }: Pod, vmi: VirtualMachineInstance): Pod => {
  const {
    readinessGates: _gates,
    initContainers: _init,
    hostname: _name,
    subdomain: _domain,
    ...rest
  } = spec ?? {
    containers: [],
  };
  const containers = rest.containers.flatMap(({ name, image, imagePullPolicy, ...compute }) => {
    if (name !== COMPUTE) return [];
    const { resources, securityContext, volumeMounts, volumeDevices } = compute;
    return [
      {
        ...{ name, command: ['/usr/lib/virtflow/busybox', 'true'] },
        ...(image === undefined ? {} : { image }),
        ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
        ...(resources === undefined ? {} : { resources }),
        ...(securityContext === undefined ? {} : { securityContext }),
        ...(volumeMounts === undefined ? {} : { volumeMounts }),
        ...(volumeDevices === undefined ? {} : { volumeDevices }),
      },
    ];
  });
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      name: firstConsumerName(vmi),
      ...(metadata?.namespace === undefined ? {} : { namespace: metadata.namespace }),
      annotations: { 'kubevirt.io/ephemeral-provisioning': 'true' },
      ...(metadata?.ownerReferences === undefined ? {} : { ownerReferences: metadata.ownerReferences }),
    },
    spec: { ...rest, containers, terminationGracePeriodSeconds: 0 },
  };
};
