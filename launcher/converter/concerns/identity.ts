import type { Concern } from '../concern.ts';
import { ConversionError } from '../errors.ts';

/** Name and hypervisor. The domain's UUID is the firmware's: libvirt takes it from the SMBIOS table. */
export const identity: Concern = (vmi, host) => {
  const { namespace = 'default', name = '', uid = '' } = vmi.metadata ?? {};
  if (!host.kvmAvailable && !host.useEmulation)
    throw new ConversionError(
      'spec.domain',
      'the node has no usable /dev/kvm and spec.configuration.developerConfiguration.useEmulation of the KubeVirt object is off',
    );
  return {
    '@type': host.kvmAvailable ? 'kvm' : 'qemu',
    name: `${namespace}_${name}`,
    metadata: { kubevirt: { '@xmlns': 'http://kubevirt.io', uid } },
  };
};
