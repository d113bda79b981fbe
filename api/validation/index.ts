export type { Cause, CauseType } from './cause.ts';
export { inTemplate } from './cause.ts';
export { causesAgainstStart, causesText, validateInstance } from './instance.ts';
export { validateInstanceUpdate } from './instance-update.ts';
export { kubeVirtWithoutEffect, onlyKubeVirt, validateKubeVirt } from './kubevirt.ts';
export { matcherCauses } from './matchers.ts';
export { validateMigrationPolicy } from './migration-policy.ts';
export type { Surroundings } from './migration.ts';
export { validateMigration, validateMigrationUpdate } from './migration.ts';
export { validateReplicaSet } from './replica-set.ts';
export type { Requester } from './requester.ts';
export { requesterOf, SYSTEM, USER } from './requester.ts';
export type { Read } from './shape.ts';
export {
  readNewInstance,
  readNewInstancetype,
  readNewMigration,
  readNewMigrationPolicy,
  readNewPreference,
  readNewReplicaSet,
  readNewVirtualMachine,
} from './shape.ts';
export { unsupportedFeatures } from './unsupported.ts';
export { validateVirtualMachine, validateVirtualMachineStatus } from './virtual-machine.ts';
