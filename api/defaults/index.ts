export { withDefaults, withSpecDefaults } from './complete.ts';
export type { Fresh } from './creation.ts';
export { newInstance, newMigration, newVirtualMachine, VMI_NAME_LABEL } from './creation.ts';
export { memoryHotplugObstacle } from './hotplug.ts';
export { completeNetwork } from './network.ts';
export { completeDisks } from './storage.ts';
