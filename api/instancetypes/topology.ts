import type { CPU } from '../kubevirt/types.ts';
import type { Cause } from '../validation/cause.ts';
import { invalid } from '../validation/cause.ts';
import type { InstanceTypes, PreferenceSpec } from './types.ts';

/** What a preferred topology gives all vCPUs to; `any` is free for VMs that say themselves, and sockets otherwise. */
export const TOPOLOGIES = ['sockets', 'cores', 'threads', 'spread', 'any'] as const;
export type Topology = (typeof TOPOLOGIES)[number];

/** Older words: preferSockets is sockets, and so on. */
export const deprecatedTopology = (word: string): Topology | undefined =>
  TOPOLOGIES.find((topology) => `prefer${topology.charAt(0).toUpperCase()}${topology.slice(1)}` === word);

/** How vCPUs are spread: over which levels, and how many lie on one of the level above. */
export const SPREADS = ['SocketsCores', 'CoresThreads', 'SocketsCoresThreads'] as const;
export type Across = (typeof SPREADS)[number];

const DEFAULT_RATIO = 2;
/** SocketsCoresThreads is 1 : ratio : 2. */
const THREADS_PER_CORE = 2;

/** Sockets where nothing else is preferred. */
export const preferredTopology = (preference: PreferenceSpec | undefined): Topology => {
  const word = preference?.cpu?.preferredCPUTopology ?? '';
  return TOPOLOGIES.find((topology) => topology === word) ?? deprecatedTopology(word) ?? 'sockets';
};

export const spreadOf = (preference: PreferenceSpec | undefined): { across: Across; ratio: number } => {
  const { across, ratio } = preference?.cpu?.spreadOptions ?? {};
  return {
    across: SPREADS.find((known) => known === across) ?? 'SocketsCores',
    ratio: ratio ?? (preference?.preferSpreadSocketToCoreRatio || DEFAULT_RATIO),
  };
};

/** A guest's topology: its vCPUs are sockets × cores × threads. */
export type GuestTopology = Required<Pick<CPU, 'sockets' | 'cores' | 'threads'>>;

/** The topology in which the guest sees so many vCPUs. */
export const topologyOf = (vcpus: number, preference: PreferenceSpec | undefined): GuestTopology => {
  const one = { sockets: 1, cores: 1, threads: 1 };
  if (vcpus === 1) return one;
  switch (preferredTopology(preference)) {
    case 'cores':
      return { ...one, cores: vcpus };
    case 'threads':
      return { ...one, threads: vcpus };
    case 'sockets':
    case 'any':
      return { ...one, sockets: vcpus };
    case 'spread':
      return spread(vcpus, spreadOf(preference));
  }
};

const spread = (vcpus: number, { across, ratio }: { across: Across; ratio: number }): GuestTopology => {
  switch (across) {
    case 'SocketsCores':
      return { sockets: vcpus / ratio, cores: ratio, threads: 1 };
    case 'CoresThreads':
      return { sockets: 1, cores: vcpus / ratio, threads: ratio };
    case 'SocketsCoresThreads':
      return { sockets: vcpus / ratio / THREADS_PER_CORE, cores: ratio, threads: THREADS_PER_CORE };
  }
};

/** Why the vCPUs of the instance type cannot be spread as the preference asks; none: they can. */
export const spreadCauses = ({ instancetype, preference }: InstanceTypes): Cause[] => {
  if (instancetype === undefined || preferredTopology(preference) !== 'spread') return [];
  const { guest } = instancetype.cpu;
  const { across, ratio } = spreadOf(preference);
  const threads = across === 'SocketsCoresThreads' ? THREADS_PER_CORE : 1;
  if (ratio > 0 && guest % (ratio * threads) === 0) return [];
  const message = `${guest} vCPUs of the instance type cannot be spread ${across} at a ratio of ${ratio}: choose an instance type with a multiple of ${ratio * threads}, or another preference`;
  return [invalid('instancetype.spec.cpu.guest', message)];
};
