/** On every VMI: kept until its launcher Pods are proven gone. */
export const VMI_FINALIZER = 'kubevirt.io/foregroundDeleteVirtualMachine';
/** The same under its old name, on VMIs of early KubeVirts. */
export const LEGACY_VMI_FINALIZER = 'foregroundDeleteVirtualMachine';
/** On a VM, and on a VMI that a VM owns: kept until the VM has seen the VMI's end. */
export const VM_FINALIZER = 'kubevirt.io/virtualMachineControllerFinalize';
/** On a VMIM: kept until its migration is over. */
export const MIGRATION_FINALIZER = 'kubevirt.io/migrationJobFinalize';
