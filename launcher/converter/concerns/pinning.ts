import type { Concern } from '../concern.ts';
import { cpuPins } from '../cpu-pins.ts';

const list = (cpus: number[]): string => cpus.join(',');

/** Pins vCPUs, emulator and IO threads to the host CPUs that the Pod owns. */
export const pinning: Concern = (vmi, host) => {
  const pins = cpuPins(vmi, host);
  if (pins === undefined) return {};
  const { vcpus, emulator, ioThreads } = pins;
  return {
    cputune: {
      vcpupin: vcpus.map((cpu, vcpu) => ({ '@vcpu': vcpu, '@cpuset': list([cpu]) })),
      emulatorpin: emulator.length === 0 ? undefined : { '@cpuset': list(emulator) },
      iothreadpin: ioThreads.map((cpus, index) => ({ '@iothread': index + 1, '@cpuset': list(cpus) })),
    },
  };
};
