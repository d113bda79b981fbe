import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import { completeArchitecture } from './architecture.ts';
import { completeCpuModel, completeCpuTopology } from './cpu.ts';
import { completeClock, completeDisplays, completeFeatures } from './features.ts';
import { completeHotplug } from './hotplug.ts';
import { completeHypervDependencies } from './hyperv.ts';
import { completeMemory } from './memory.ts';
import { completeNetwork } from './network.ts';
import { completeProbes } from './probes.ts';
import { completeResources } from './resources.ts';
import { completeDisks, completePullPolicies } from './storage.ts';
import { completeStatus } from './status.ts';

const PCI_TOPOLOGY = 'kubevirt.io/pci-topology-version';

/**
 * The VMI with everything filled in that KubeVirt's admission would fill in, so that the rest of the code asks no defaults. The input is not
 * changed; what the user has set stays; doing it twice changes nothing. A firmware UUID that nobody gave is the VMI's uid.
 */
export const withDefaults = (vmi: VirtualMachineInstance, config: ClusterConfig): VirtualMachineInstance => {
  const complete = structuredClone(vmi);
  const { spec } = complete;
  completeSpec(spec, config);
  completeFeatures(spec);
  completeDisplays(spec);
  completeFirmware(complete);
  completeClock(spec);
  completeProbes(spec);
  completeHypervDependencies(spec);
  completeArchitecture(spec);
  completeCpuModel(spec, config);
  completeStatus(complete);
  completeHotplug(spec, config);
  completePciTopology(complete);
  return complete;
};

/** A VM's template as far as the VM's own admission needs it complete: a copy. */
export const withSpecDefaults = (
  spec: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): VirtualMachineInstanceSpec => {
  const complete = structuredClone(spec);
  completeSpec(complete, config);
  return complete;
};

/** What does not depend on the kind of guest. */
const completeSpec = (spec: VirtualMachineInstanceSpec, config: ClusterConfig): void => {
  spec.domain.devices ??= {};
  spec.architecture ||= config.defaultArchitecture;
  spec.evictionStrategy ??= config.evictionStrategy;
  completeMachine(spec, config);
  completeResources(spec, config);
  completeMemory(spec);
  completeCpuTopology(spec);
  completePullPolicies(spec);
  completeNetwork(spec, config);
  completeDisks(spec);
};

/** The machine that the cluster has for the architecture. */
export const completeMachine = (spec: VirtualMachineInstanceSpec, { machineTypes }: ClusterConfig): void => {
  const type =
    spec.architecture === 'arm64' || spec.architecture === 's390x'
      ? machineTypes[spec.architecture]
      : machineTypes.amd64;
  spec.domain.machine ??= { type };
  spec.domain.machine.type ||= type;
};

const completeFirmware = ({ metadata, spec }: VirtualMachineInstance): void => {
  const firmware = (spec.domain.firmware ??= {});
  const uuid = firmware.uuid || metadata?.uid;
  if (uuid !== undefined) firmware.uuid = uuid;
};

/** Guests with PCI Express get the layout that leaves room for hotplug; older ones keep what their annotation says. */
const completePciTopology = (vmi: VirtualMachineInstance): void => {
  vmi.metadata = { ...vmi.metadata, ...pciTopology(vmi.spec, vmi.metadata?.annotations) };
};

/** The annotations with the layout of PCI devices, for guests that have one to choose. */
export const pciTopology = (
  { architecture = '', domain }: VirtualMachineInstanceSpec,
  annotations: Record<string, string> | undefined,
): { annotations?: Record<string, string> } => {
  const type = domain.machine?.type ?? '';
  const express = type.includes('q35') || type.startsWith('virt');
  if (!['amd64', 'arm64'].includes(architecture) || !express) return annotations === undefined ? {} : { annotations };
  return { annotations: { [PCI_TOPOLOGY]: 'v3', ...annotations } };
};
