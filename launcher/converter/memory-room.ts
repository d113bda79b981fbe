import type { Domain } from './domain.ts';

/** One virtio-mem device takes all the memory that is plugged in; libvirt counts it as a slot. */
const SLOTS = 1;
/**
 * QEMU's CPU models address 40 bits where they do not take the host's width over, and what is plugged in lies above the guest's memory and its hole for
 * PCI: beyond half of that a guest with room to grow might not start.
 */
const MOST_BYTES = 2 ** 39;

/**
 * Room for memory that is plugged in, in the form that libvirt 9.0 takes: with slots, and with a NUMA cell that holds the memory there is at boot (later
 * releases add both themselves). Without room to grow into, the maximum is left out.
 */
export const withMemoryRoom = (domain: Domain): Domain => {
  const { maxMemory, memory, cpu, vcpu } = domain;
  if (maxMemory === undefined) return domain;
  if (maxMemory['#text'] <= memory['#text'] || maxMemory['#text'] > MOST_BYTES) {
    return { ...domain, maxMemory: undefined };
  }
  const cell = {
    '@id': 0,
    '@cpus': `0-${vcpu['#text'] - 1}`,
    '@memory': Math.floor(memory['#text'] / 1024),
    '@unit': 'KiB',
  } as const;
  return {
    ...domain,
    maxMemory: { ...maxMemory, '@slots': SLOTS },
    cpu: { ...cpu, numa: cpu.numa ?? { cell: [cell] } },
  };
};
