/** Labels and annotations of KubeVirt's API that virtflow reads or writes (KubeVirt's API types, core/v1). */
export const APP_LABEL = 'kubevirt.io';
export const LAUNCHER_APP = 'virt-launcher';
/** On a launcher Pod: uid of its VMI. */
export const CREATED_BY_LABEL = 'kubevirt.io/created-by';
/** On a launcher Pod: name of its VMI (its beginning and a hash when it is longer than a label value). */
export const INSTANCE_LABEL = 'vmi.kubevirt.io/id';
/** On a migration's target Pod: uid and name of its VMIM. */
export const MIGRATION_UID_LABEL = 'kubevirt.io/migrationJobUID';
export const MIGRATION_NAME_ANNOTATION = 'kubevirt.io/migrationJobName';
/** On a VMI, while a migration runs: node of the target Pod. */
export const MIGRATION_TARGET_NODE_LABEL = 'kubevirt.io/migrationTargetNodeName';
/** On a VMI and its Pod: the launcher is another than Pods get now; its value is ''. */
export const OUTDATED_LABEL = 'kubevirt.io/outdatedLauncherImage';
/** On a VMI and the Pod that runs it: node on which it runs. */
export const NODE_NAME_LABEL = 'kubevirt.io/nodeName';
export { VMI_FINALIZER, VM_FINALIZER } from '../../api/kubevirt/finalizers.ts';
/** Readiness gate of launcher Pods. */
export const UNPAUSED_GATE = 'kubevirt.io/virtual-machine-unpaused';
/** Name of the launcher's container. */
export const COMPUTE = 'compute';
/** Prints the guest's serial console; it starts before `compute`, where there is one. */
export const CONSOLE_LOG = 'guest-console-log';
/** On a VMIM: name of its VMI; virtctl selects by it. */
export const MIGRATED_INSTANCE_LABEL = 'kubevirt.io/vmi-name';
export { HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from '../../api/contract/nodes.ts';
