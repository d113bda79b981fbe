import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';

/** Guests whose memory another process maps: a virtiofs daemon, or passt. */
export const sharesMemory = ({ spec }: VirtualMachineInstance): boolean => {
  const { filesystems = [], interfaces = [] } = spec.domain.devices;
  return filesystems.length > 0 || interfaces.some(({ passtBinding }) => passtBinding !== undefined);
};
