import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../kubevirt/types.ts';
import type { Instancetype, Preference } from '../instancetypes/index.ts';
import type { MigrationPolicy } from '../migration-policy/index.ts';
import {
  parseInstance,
  parseInstancetype,
  parseMigration,
  parseMigrationPolicy,
  parsePreference,
  parseReplicaSet,
  parseVirtualMachine,
  UnreadableObject,
} from '../schemas/index.ts';
import type { Cause } from './cause.ts';
import { invalid, required, when } from './cause.ts';

/** An object that rules can look at, or why they cannot. */
export type Read<Kind> = { object: Kind; causes: [] } | { object?: undefined; causes: Cause[] };

/** Fields that an object must have once it has what holds them. */
const INSTANCE = ['spec', 'spec.domain', 'spec.domain.devices'];
const VIRTUAL_MACHINE = ['spec', 'spec.template', 'spec.template.spec?.domain', 'spec.template.spec?.domain.devices'];

/** Reads what a user sends: every field of a wrong type and every missing one is named. */
export const readNewInstance = (object: unknown): Read<VirtualMachineInstance> => read(object, INSTANCE, parseInstance);
export const readNewVirtualMachine = (object: unknown): Read<VirtualMachine> =>
  read(object, VIRTUAL_MACHINE, parseVirtualMachine);
export const readNewMigration = (object: unknown): Read<VirtualMachineInstanceMigration> =>
  read(object, ['spec'], parseMigration);
export const readNewReplicaSet = (object: unknown): Read<VirtualMachineInstanceReplicaSet> =>
  read(object, [...VIRTUAL_MACHINE, 'spec.selector'], parseReplicaSet);
export const readNewMigrationPolicy = (object: unknown): Read<MigrationPolicy> =>
  read(object, ['spec'], parseMigrationPolicy);
export const readNewInstancetype = (object: unknown): Read<Instancetype> =>
  read(object, ['spec', 'spec.cpu', 'spec.memory'], parseInstancetype);
export const readNewPreference = (object: unknown): Read<Preference> => read(object, ['spec'], parsePreference);

const read = <Kind>(object: unknown, fields: string[], parse: (object: unknown) => Kind): Read<Kind> => {
  const missing = fields.flatMap((field) =>
    when(isMissing(object, field.split('.')), () => required(field.replace('?', ''), 'it must be set, at least to {}')),
  );
  if (missing.length > 0) return { causes: missing };
  try {
    return { object: parse(object), causes: [] };
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    return {
      causes: error.issues.map(({ field, message }) =>
        message.endsWith('received undefined') ? required(field, 'it must be set') : invalid(field, message),
      ),
    };
  }
};

/** True if the last part is absent while all before it are there; a part with "?" may be absent itself. */
const isMissing = (object: unknown, [part = '', ...rest]: string[]): boolean => {
  if (typeof object !== 'object' || object === null) return false;
  const member = new Map<string, unknown>(Object.entries(object)).get(part.replace('?', ''));
  if (rest.length > 0) return isMissing(member, rest);
  return member === undefined || member === null;
};
