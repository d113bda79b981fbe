/** What the controller worker's bundle offers: workflow functions only, by the names of WORKFLOWS. */
export { shutdownInstance } from './shutdown/shutdown-instance.ts';
export { startInstance } from './start/start-instance.ts';
export { virtualMachineInstance } from './instance/instance.ts';
export { virtualMachine } from './virtual-machine/virtual-machine.ts';
