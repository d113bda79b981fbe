import type { Concern } from '../concern.ts';

/**
 * What libvirt does when the guest reboots. Its defaults serve the launcher otherwise: power-off and crash end the domain (events "stopped" with
 * "shutdown" or "crashed"), a reboot restarts the guest in the same QEMU.
 */
export const lifecycle: Concern = ({ spec }) => {
  const policy = spec.domain.rebootPolicy;
  if (policy === 'Terminate') return { on_reboot: 'destroy' };
  return policy === 'Reboot' ? { on_reboot: 'restart' } : {};
};
