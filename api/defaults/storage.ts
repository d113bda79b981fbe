import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** A volume that no disk and no file system refers to becomes a disk of that name. */
export const completeDisks = (spec: VirtualMachineInstanceSpec): void => {
  const { devices } = spec.domain;
  const named = new Set([...(devices.disks ?? []), ...(devices.filesystems ?? [])].map(({ name }) => name));
  const missing = (spec.volumes ?? []).filter(({ name }) => !named.has(name)).map(({ name }) => ({ name }));
  if (missing.length > 0) devices.disks = [...(devices.disks ?? []), ...missing];
};

/** As the kubelet does: images without a fixed tag or digest are pulled every time. */
export const completePullPolicies = ({ volumes = [] }: VirtualMachineInstanceSpec): void => {
  for (const { containerDisk } of volumes) {
    if (containerDisk === undefined || containerDisk.imagePullPolicy) continue;
    const { image = '' } = containerDisk;
    const floating = image.endsWith(':latest') || !/[:@]/.test(image);
    Object.assign(containerDisk, { imagePullPolicy: floating ? 'Always' : 'IfNotPresent' });
  }
};
