/** A namespaced Kubernetes object: a name alone may stand for a later object, the uid never does. */
export interface ObjectRef {
  namespace: string;
  name: string;
  uid: string;
}

/** A launcher Pod and, once the scheduler has chosen, its node. */
export interface PodRef {
  name: string;
  uid: string;
  node?: string;
}

/** Workflow ids. They are built here only; everything else calls these. */
export const virtualMachineId = (vm: ObjectRef): string => `vm/${vm.namespace}/${vm.name}/${vm.uid}`;
export const instanceId = (vmi: ObjectRef): string => `vmi/${vmi.namespace}/${vmi.name}/${vmi.uid}`;
/** `n` counts the attempts of one VMI, from 1. */
export const startId = (vmi: ObjectRef, n: number): string => `vmi-start/${vmi.uid}/${n}`;
export const shutdownId = (vmi: ObjectRef, n: number): string => `vmi-shutdown/${vmi.uid}/${n}`;

/** One workflow for one Node object. */
export const nodeLifecycleId = ({ name, uid }: { name: string; uid: string }): string => `node/${name}/${uid}`;

/** One workflow for one VirtualMachineInstanceReplicaSet. */
export const replicaSetId = (set: ObjectRef): string => `vmirs/${set.namespace}/${set.name}/${set.uid}`;

/** At most one workflow at a time for one Node object. */
export const evacuationId = ({ name, uid }: { name: string; uid: string }): string => `evacuate/${name}/${uid}`;

/** One workflow for one VMIM. */
export const migrationId = (migration: ObjectRef): string =>
  `migration/${migration.namespace}/${migration.name}/${migration.uid}`;

/** The VMIM behind a migration's workflow id; undefined for any other workflow. */
export const migrationOf = (workflowId: string): ObjectRef | undefined => {
  const [, namespace, name, uid] = /^migration\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(workflowId) ?? [];
  return namespace === undefined || name === undefined || uid === undefined ? undefined : { namespace, name, uid };
};

/** Name of the Lease that is the run token of a VM (the VMI has the VM's name). */
export const tokenName = (vmi: { name: string }): string => `virtflow-${vmi.name}`;
