/** What the controller worker's bundle offers: workflow functions only, by the names of WORKFLOWS. */
export { evacuateNode } from './evacuate-node/evacuate-node.ts';
export { replicaSet } from './replica-set/replica-set.ts';
export { nodeLifecycle } from './node-lifecycle/node-lifecycle.ts';
export { migrationScheduler } from './migration-scheduler/migration-scheduler.ts';
export { shutdownInstance } from './shutdown/shutdown-instance.ts';
export { startInstance } from './start/start-instance.ts';
export { migrateInstance } from './migrate/migrate-instance.ts';
export { virtualMachineInstance } from './instance/instance.ts';
export { carryOutTrigger } from './virtual-machine/carry-out-trigger.ts';
export { virtualMachine } from './virtual-machine/virtual-machine.ts';
