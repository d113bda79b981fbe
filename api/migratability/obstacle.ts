import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';

/** KubeVirt's reasons of a False condition LiveMigratable. */
export type Reason =
  | 'InterfaceNotLiveMigratable'
  | 'CPUModeNotLiveMigratable'
  | 'HostDeviceNotLiveMigratable'
  | 'SEVNotLiveMigratable'
  | 'TDXNotLiveMigratable'
  | 'SecureExecutionNotLiveMigratable'
  | 'PersistentReservationNotLiveMigratable'
  | 'NoTSCFrequencyNotLiveMigratable'
  | 'HypervPassthroughNotLiveMigratable'
  | 'VirtIOFSNotLiveMigratable'
  | 'HotplugNotLiveMigratable'
  | 'DisksNotLiveMigratable';

/** One thing that keeps a VMI from being migrated. */
export interface Obstacle {
  reason: Reason;
  /** Names the field or object, and what to do about it. */
  message: string;
}

/** What cannot be read from the VMI itself. */
export interface MigratabilityFacts {
  /** Access modes of every claim of the VMI that exists, by name. */
  claims: Record<string, readonly string[]>;
  config: Pick<ClusterConfig, 'useEmulation'>;
  /** Labels of the node that runs the guest; absent: not looked at. */
  nodeLabels?: Record<string, string>;
}

/** One concern. The VMI has all defaults. */
export type Rule = (vmi: VirtualMachineInstance, facts: MigratabilityFacts) => Obstacle[];
