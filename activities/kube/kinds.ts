import { INSTANCETYPE_API_VERSION } from '../../api/instancetypes/references.ts';
import type { Kind, Name } from './port.ts';

interface Resource {
  apiVersion: string;
  plural: string;
  namespaced: boolean;
}

/** Where the API server serves each kind. */
export const RESOURCES = {
  VirtualMachine: { apiVersion: 'kubevirt.io/v1', plural: 'virtualmachines', namespaced: true },
  VirtualMachineInstance: { apiVersion: 'kubevirt.io/v1', plural: 'virtualmachineinstances', namespaced: true },
  VirtualMachineInstanceMigration: {
    apiVersion: 'kubevirt.io/v1',
    plural: 'virtualmachineinstancemigrations',
    namespaced: true,
  },
  VirtualMachineInstanceReplicaSet: {
    apiVersion: 'kubevirt.io/v1',
    plural: 'virtualmachineinstancereplicasets',
    namespaced: true,
  },
  MigrationPolicy: {
    apiVersion: 'migrations.kubevirt.io/v1alpha1',
    plural: 'migrationpolicies',
    namespaced: false,
  },
  KubeVirt: { apiVersion: 'kubevirt.io/v1', plural: 'kubevirts', namespaced: true },
  Pod: { apiVersion: 'v1', plural: 'pods', namespaced: true },
  Node: { apiVersion: 'v1', plural: 'nodes', namespaced: false },
  Lease: { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', namespaced: true },
  PersistentVolumeClaim: { apiVersion: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
  NetworkAttachmentDefinition: {
    apiVersion: 'k8s.cni.cncf.io/v1',
    plural: 'network-attachment-definitions',
    namespaced: true,
  },
  ResourceQuota: { apiVersion: 'v1', plural: 'resourcequotas', namespaced: true },
  StorageClass: { apiVersion: 'storage.k8s.io/v1', plural: 'storageclasses', namespaced: false },
  Namespace: { apiVersion: 'v1', plural: 'namespaces', namespaced: false },
  Secret: { apiVersion: 'v1', plural: 'secrets', namespaced: true },
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps', namespaced: true },
  CertificateSigningRequest: {
    apiVersion: 'certificates.k8s.io/v1',
    plural: 'certificatesigningrequests',
    namespaced: false,
  },
  ControllerRevision: { apiVersion: 'apps/v1', plural: 'controllerrevisions', namespaced: true },
  // Served where CDI is installed.
  DataVolume: { apiVersion: 'cdi.kubevirt.io/v1beta1', plural: 'datavolumes', namespaced: true },
  DataSource: { apiVersion: 'cdi.kubevirt.io/v1beta1', plural: 'datasources', namespaced: true },
  // Served where a snapshot controller is installed.
  VolumeSnapshot: { apiVersion: 'snapshot.storage.k8s.io/v1', plural: 'volumesnapshots', namespaced: true },
  VirtualMachineInstancetype: {
    apiVersion: INSTANCETYPE_API_VERSION,
    plural: 'virtualmachineinstancetypes',
    namespaced: true,
  },
  VirtualMachineClusterInstancetype: {
    apiVersion: INSTANCETYPE_API_VERSION,
    plural: 'virtualmachineclusterinstancetypes',
    namespaced: false,
  },
  VirtualMachinePreference: {
    apiVersion: INSTANCETYPE_API_VERSION,
    plural: 'virtualmachinepreferences',
    namespaced: true,
  },
  VirtualMachineClusterPreference: {
    apiVersion: INSTANCETYPE_API_VERSION,
    plural: 'virtualmachineclusterpreferences',
    namespaced: false,
  },
} as const satisfies Record<Kind, Resource>;

const root = (apiVersion: string): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);

/** Path of a kind's collection, in one namespace or (without `namespace`) in all. */
export const collectionPath = (kind: Kind, namespace?: string): string => {
  const { apiVersion, plural, namespaced } = RESOURCES[kind];
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root(apiVersion)}${scope}/${plural}`;
};

/** Path of one object or of its subresource. */
export const objectPath = (kind: Kind, { namespace, name }: Name, subresource?: string): string =>
  `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}${subresource === undefined ? '' : `/${subresource}`}`;

/** "Pod team-a/web", for messages. */
export const describe = (kind: Kind, { namespace, name }: Name): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
