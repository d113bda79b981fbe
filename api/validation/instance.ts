import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';
import { architectureRules } from './architecture.ts';
import { bootRules } from './boot.ts';
import type { Cause, Rule } from './cause.ts';
import { choiceRules } from './choices.ts';
import { claimRules } from './claims.ts';
import { cloudInitRules } from './cloud-init.ts';
import { cpuRules } from './cpu.ts';
import { credentialRules } from './credentials.ts';
import { deviceRules } from './devices.ts';
import { diskRules } from './disks.ts';
import { dnsRules } from './dns.ts';
import { hypervRules } from './hyperv.ts';
import { interfaceRules } from './interfaces.ts';
import { launchSecurityRules } from './launch-security.ts';
import { lifecycleRules } from './lifecycle.ts';
import { memoryIsThere, memoryRules } from './memory.ts';
import { metadataCauses } from './metadata.ts';
import { nameRules } from './names.ts';
import { defaultNetwork, networkRules } from './networks.ts';
import { probeRules } from './probes.ts';
import type { Requester } from './requester.ts';
import { SYSTEM, USER } from './requester.ts';
import { schedulingRules } from './scheduling.ts';
import { unsupportedFeatures } from './unsupported.ts';
import { volumeRules, volumesAreUsed } from './volumes.ts';
import { guestNameCauses, workableRules } from './workable.ts';

/** Rules of a VMI's spec that hold for a VM's template too. */
export const SPEC_RULES: Rule[] = [
  nameRules,
  memoryRules,
  cpuRules,
  bootRules,
  launchSecurityRules,
  schedulingRules,
  choiceRules,
  defaultNetwork,
  networkRules,
  interfaceRules,
  claimRules,
  deviceRules,
  diskRules,
  volumeRules,
  cloudInitRules,
  credentialRules,
  lifecycleRules,
  probeRules,
  dnsRules,
  workableRules,
];

/** Rules of a VMI only: a VM may get what they ask for until it starts. */
const INSTANCE_RULES: Rule[] = [memoryIsThere, volumesAreUsed, hypervRules, architectureRules];

/** Causes of all these rules. */
export const causesOf = (rules: Rule[], vmi: VirtualMachineInstance, config: ClusterConfig): Cause[] =>
  rules.flatMap((rule) => rule(vmi, config));

/** Every reason to refuse a new VMI that is complete with defaults, all at once; none: it is taken. */
export const validateInstance = (
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  requester: Requester = USER,
): Cause[] => [
  ...guestNameCauses(vmi.metadata ?? {}),
  ...metadataCauses(vmi.metadata ?? {}, config, requester),
  ...causesOf([...SPEC_RULES, ...INSTANCE_RULES], vmi, config),
];

/** Everything that keeps a VMI (complete with defaults) from being started: what is wrong, and what is not there yet. */
export const causesAgainstStart = (vmi: VirtualMachineInstance, config: ClusterConfig): Cause[] => [
  ...validateInstance(vmi, config, SYSTEM),
  ...unsupportedFeatures(vmi, config),
];

/** Causes in one sentence, for conditions and failures. */
export const causesText = (causes: readonly Cause[]): string =>
  causes.map(({ field, message }) => `${field}: ${message}`).join('; ');
