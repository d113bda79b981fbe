import { compareQuantities } from '../kubernetes/quantity.ts';
import type { CPU, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause } from '../validation/cause.ts';
import { notFound } from '../validation/cause.ts';
import type { Across, GuestTopology } from './topology.ts';
import { preferredTopology, spreadOf } from './topology.ts';
import type { InstanceTypes, PreferenceSpec } from './types.ts';

type Level = keyof GuestTopology;

/** The levels over which a preference wants its vCPUs. */
const levelsOf = (preference: PreferenceSpec): Level[] => {
  switch (preferredTopology(preference)) {
    case 'sockets':
      return ['sockets'];
    case 'cores':
      return ['cores'];
    case 'threads':
      return ['threads'];
    case 'any':
      return ['cores', 'sockets', 'threads'];
    case 'spread':
      return SPREAD_OVER[spreadOf(preference).across];
  }
};

const SPREAD_OVER: Record<Across, Level[]> = {
  SocketsCores: ['sockets', 'cores'],
  CoresThreads: ['cores', 'threads'],
  SocketsCoresThreads: ['sockets', 'cores', 'threads'],
};

/**
 * What the preference needs and the VM does not have; none: it has enough. The field is the instance type where that decides.
 * @param spec of the VM's template, with what both stand for and with defaults
 */
export const requirementCauses = (types: InstanceTypes, spec: VirtualMachineInstanceSpec): Cause[] => {
  const { preference } = types;
  if (preference?.requirements === undefined) return [];
  return [
    ...cpuCauses(types, preference, spec.domain.cpu),
    ...memoryCauses(types, spec),
    ...architectureCauses(preference, spec),
  ];
};

const SPEC = 'spec.template.spec';

const cpuCauses = ({ instancetype }: InstanceTypes, preference: PreferenceSpec, cpu: CPU | undefined): Cause[] => {
  const needed = preference.requirements?.cpu?.guest ?? 0;
  const levels = levelsOf(preference);
  const provided = instancetype?.cpu.guest ?? levels.reduce((product, level) => product * (cpu?.[level] ?? 0), 1);
  if (provided >= needed) return [];
  const field = instancetype === undefined ? levels.map((level) => `${SPEC}.domain.cpu.${level}`).join(', ') : TYPE;
  return [notFound(field, `the preference needs ${needed} vCPUs, these are ${provided}`)];
};

const TYPE = 'spec.instancetype';

const memoryCauses = ({ instancetype, preference }: InstanceTypes, { domain }: VirtualMachineInstanceSpec): Cause[] => {
  const needed = preference?.requirements?.memory?.guest ?? '0';
  const provided = domain.memory?.guest ?? instancetype?.memory.guest ?? '0';
  if (compareQuantities(provided, needed) >= 0) return [];
  const field = instancetype === undefined ? `${SPEC}.domain.memory` : TYPE;
  return [notFound(field, `the preference needs ${needed} of memory, this is ${provided}`)];
};

const architectureCauses = (preference: PreferenceSpec, { architecture = '' }: VirtualMachineInstanceSpec): Cause[] => {
  const needed = preference.requirements?.architecture;
  if (needed === undefined || needed === architecture) return [];
  return [notFound(`${SPEC}.architecture`, `the preference is for ${needed}, this is ${architecture}`)];
};
