import type { IoK8sApimachineryPkgApisMetaV1ObjectMeta as ObjectMeta } from '@kubevirt-ui-ext/kubevirt-api/kubernetes';

/** Plain JSON shapes of the Kubernetes objects that virtflow reads and writes (times are RFC 3339 strings). Types only. */
export type {
  IoK8sApiCoreV1Pod as Pod,
  IoK8sApiCoreV1PodSpec as PodSpec,
  IoK8sApiCoreV1PodStatus as PodStatus,
  IoK8sApiCoreV1Container as Container,
  IoK8sApiCoreV1ContainerStatus as ContainerStatus,
  IoK8sApiCoreV1Volume as PodVolume,
  IoK8sApiCoreV1VolumeMount as VolumeMount,
  IoK8sApiCoreV1Node as Node,
  IoK8sApiCoreV1PersistentVolumeClaim as PersistentVolumeClaim,
  IoK8sApiCoreV1ResourceQuota as ResourceQuota,
  IoK8sApiCoreV1Namespace as Namespace,
  IoK8sApiCoreV1Secret as Secret,
  IoK8sApiCoreV1ConfigMap as ConfigMap,
  IoK8sApiCertificatesV1CertificateSigningRequest as CertificateSigningRequest,
  IoK8sApiCertificatesV1CertificateSigningRequestCondition as CertificateSigningRequestCondition,
  IoK8sApiStorageV1StorageClass as StorageClass,
  IoK8sApiAppsV1ControllerRevision as ControllerRevision,
  IoK8sApiCoordinationV1Lease as Lease,
  IoK8sApimachineryPkgApisMetaV1OwnerReference as OwnerReference,
} from '@kubevirt-ui-ext/kubevirt-api/kubernetes';

export type { ObjectMeta };

/** A network of Multus; its configuration is a matter of the network plugins. */
export interface NetworkAttachmentDefinition {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** Of a snapshot controller, as far as virtflow looks at one. */
export type VolumeSnapshot = NetworkAttachmentDefinition;
