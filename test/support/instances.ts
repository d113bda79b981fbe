import { effectiveConfiguration } from '../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { KubeVirt, VirtualMachineInstance } from '../../api/kubevirt/types.ts';

/** A VMI as it comes from the API server, from the parts that a test is about: any JSON. */
export const instance = (spec: object = {}, metadata: object = {}): VirtualMachineInstance =>
  structuredClone({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'web', namespace: 'shop', uid: '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11', ...metadata },
    spec: { domain: { devices: {} }, ...spec },
  });

/** The same, when only the domain matters. */
export const withDomain = (domain: object, spec: object = {}, metadata: object = {}): VirtualMachineInstance =>
  instance({ ...spec, domain: { devices: {}, ...domain } }, metadata);

/** Configuration in force for a KubeVirt object's spec.configuration: any JSON. */
export const configured = (configuration: object = {}): ClusterConfig =>
  effectiveConfiguration({ spec: { configuration } } as KubeVirt);

/** Configuration with these gates on and off. */
export const gated = (featureGates: string[], disabledFeatureGates: string[] = []): ClusterConfig =>
  configured({ developerConfiguration: { featureGates, disabledFeatureGates } });
