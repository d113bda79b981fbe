import { LAUNCHER_UID } from '../launcher/paths.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';

/** What the guest starts with; a guest that runs keeps what its status says. */
export const completeStatus = (vmi: VirtualMachineInstance): void => {
  const { cpu, memory } = vmi.spec.domain;
  const status = (vmi.status ??= {});
  status.runtimeUser ??= LAUNCHER_UID;
  if (memory?.guest !== undefined) {
    status.memory ??= { guestAtBoot: memory.guest, guestCurrent: memory.guest, guestRequested: memory.guest };
  }
  const { sockets, cores, threads } = cpu ?? {};
  status.currentCPUTopology ??= {
    ...(sockets ? { sockets } : {}),
    ...(cores ? { cores } : {}),
    ...(threads ? { threads } : {}),
  };
};
