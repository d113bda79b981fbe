import type { Instancetype, Preference } from '../../api/instancetypes/index.ts';
import type {
  DataSource,
  DataVolume,
  KubeVirt,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../../api/kubevirt/types.ts';
import type { MigrationPolicy } from '../../api/migration-policy/index.ts';
import type {
  CertificateSigningRequest,
  ConfigMap,
  ControllerRevision,
  Lease,
  Namespace,
  NetworkAttachmentDefinition,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  StorageClass,
  VolumeSnapshot,
} from '../../api/kubernetes/types.ts';

/** Kinds that virtflow reads and writes, with their plain JSON types. */
export interface Kinds {
  VirtualMachine: VirtualMachine;
  VirtualMachineInstance: VirtualMachineInstance;
  VirtualMachineInstanceMigration: VirtualMachineInstanceMigration;
  VirtualMachineInstanceReplicaSet: VirtualMachineInstanceReplicaSet;
  MigrationPolicy: MigrationPolicy;
  KubeVirt: KubeVirt;
  Pod: Pod;
  Node: Node;
  Lease: Lease;
  PersistentVolumeClaim: PersistentVolumeClaim;
  NetworkAttachmentDefinition: NetworkAttachmentDefinition;
  ResourceQuota: ResourceQuota;
  StorageClass: StorageClass;
  Namespace: Namespace;
  Secret: Secret;
  ConfigMap: ConfigMap;
  CertificateSigningRequest: CertificateSigningRequest;
  ControllerRevision: ControllerRevision;
  DataVolume: DataVolume;
  DataSource: DataSource;
  VolumeSnapshot: VolumeSnapshot;
  VirtualMachineInstancetype: Instancetype;
  VirtualMachineClusterInstancetype: Instancetype;
  VirtualMachinePreference: Preference;
  VirtualMachineClusterPreference: Preference;
}

export type Kind = keyof Kinds;

export interface Name {
  namespace?: string;
  name: string;
}

/** The API server refused or could not be reached. `status` 0: no answer. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly status: number;
  /** Kubernetes' machine-readable reason: NotFound, Conflict, AlreadyExists, Forbidden, Invalid, … */
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
  }
}

/**
 * The API server as activities need it: every call is a live request, objects are plain JSON (times are strings).
 * All calls throw KubeError; `get` answers undefined for 404.
 */
export interface KubePort {
  get<K extends Kind>(kind: K, name: Name): Promise<Kinds[K] | undefined>;
  list<K extends Kind>(
    kind: K,
    options?: { namespace?: string; labelSelector?: string; fieldSelector?: string },
  ): Promise<Kinds[K][]>;
  create<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** Full replace; carries metadata.resourceVersion as precondition. */
  replace<K extends Kind>(kind: K, object: Kinds[K]): Promise<Kinds[K]>;
  /** JSON merge patch (null deletes a field). With `subresource: 'status'` only the status changes; a CertificateSigningRequest has its approval beside it. */
  mergePatch<K extends Kind>(
    kind: K,
    name: Name,
    patch: object,
    options?: { subresource?: 'status' | 'approval' },
  ): Promise<Kinds[K]>;
  /** JSON patch (RFC 6902): `test` operations make preconditions. */
  jsonPatch<K extends Kind>(
    kind: K,
    name: Name,
    patch: readonly object[],
    options?: { subresource?: 'status' },
  ): Promise<Kinds[K]>;
  /** Delete with uid (and, if given, resourceVersion) precondition. 404 and a mismatch are success: undefined. */
  remove<K extends Kind>(
    kind: K,
    name: Name,
    options: {
      uid: string;
      resourceVersion?: string;
      gracePeriodSeconds?: number;
      propagation?: 'Foreground' | 'Background' | 'Orphan';
    },
  ): Promise<Kinds[K] | undefined>;
  /**
   * Creates a Kubernetes Event; failures to do so are the caller's to ignore. Said again with the same `once` it is not created a second time; without
   * it, within seconds.
   */
  event(event: {
    involved: { apiVersion: string; kind: string; namespace: string; name: string; uid: string };
    type: 'Normal' | 'Warning';
    reason: string;
    message: string;
    component: string;
    once?: string;
  }): Promise<void>;
}
