import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { bootRules } from './boot.ts';
import { cloudInitRules } from './cloud-init.ts';
import { diskRules } from './disks.ts';
import { lifecycleRules } from './lifecycle.ts';
import { memoryRules } from './memory.ts';
import { nameRules } from './names.ts';
import { networkRules } from './networks.ts';
import { unsupportedFeatures } from './unsupported.ts';
import { volumeRules } from './volumes.ts';

export type { Cause, CauseType } from './cause.ts';
export { unsupportedFeatures } from './unsupported.ts';

const RULES: Rule[] = [
  nameRules,
  memoryRules,
  volumeRules,
  diskRules,
  cloudInitRules,
  networkRules,
  bootRules,
  lifecycleRules,
  unsupportedFeatures,
];

/** Everything that keeps a VMI (complete with defaults) from working, all at once; none: it can be started. */
export const validateInstance = (vmi: VirtualMachineInstance, config: ClusterConfig): Cause[] =>
  RULES.flatMap((rule) => rule(vmi, config));

/** Causes in one sentence, for conditions and failures. */
export const causesText = (causes: readonly Cause[]): string =>
  causes.map(({ field, message }) => `${field}: ${message}`).join('; ');
