import type {
  V1beta1DevicePreferences,
  V1beta1VirtualMachineInstancetypeSpec,
  V1beta1VirtualMachinePreferenceSpec,
} from '@kubevirt-ui-ext/kubevirt-api/kubevirt';
import type { ObjectMeta } from '../kubernetes/types.ts';
import type { DomainSpec } from '../kubevirt/types.ts';

export type InstancetypeSpec = V1beta1VirtualMachineInstancetypeSpec;
export type DevicePreferences = V1beta1DevicePreferences;

/** The generated type lacks a younger field. */
export interface PreferenceSpec extends V1beta1VirtualMachinePreferenceSpec {
  preferredLaunchSecurity?: NonNullable<DomainSpec['launchSecurity']>;
}

/** VirtualMachineInstancetype and VirtualMachineClusterInstancetype. */
export interface Instancetype {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: InstancetypeSpec;
}

/** VirtualMachinePreference and VirtualMachineClusterPreference. */
export interface Preference extends Omit<Instancetype, 'spec'> {
  spec: PreferenceSpec;
}

/** What the instance type and the preference of a VM hold; absent: the VM names none, or there is none yet. */
export interface InstanceTypes {
  instancetype?: InstancetypeSpec;
  preference?: PreferenceSpec;
}
