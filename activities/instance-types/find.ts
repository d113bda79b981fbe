import type {
  Instancetype,
  InstancetypeSpec,
  InstanceTypes,
  Preference,
  PreferenceSpec,
  ReferencedKind,
  ReferenceField,
} from '../../api/instancetypes/index.ts';
import { isClusterWide, kindOf, namedRevision, storedRevision } from '../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../api/kubevirt/types.ts';
import { parseInstancetype, parsePreference, UnreadableObject } from '../../api/schemas/index.ts';
import { isNotServed } from '../kube/errors.ts';
import type { Kind, Kinds, KubePort, Name } from '../kube/port.ts';

type Reader = Pick<KubePort, 'get'>;
type Spec = { instancetype: InstancetypeSpec; preference: PreferenceSpec };

/** What a reference of a VM leads to: the copy that the VM keeps, or the object itself. */
export type Found<F extends ReferenceField> =
  | { spec: Spec[F]; revision: string }
  | { spec: Spec[F]; revision?: undefined; kind: ReferencedKind<F>; object: Instancetype | Preference };

/** A reference that leads nowhere, for now. */
export interface Missing {
  field: ReferenceField;
  message: string;
}

export interface Lookup {
  instancetype?: Found<'instancetype'>;
  preference?: Found<'preference'>;
  missing: Missing[];
}

/** Looks up what the VM refers to; live reads, none for a VM that refers to nothing. @throws KubeError */
export const findInstanceTypes = async (kube: Reader, vm: VirtualMachine): Promise<Lookup> => {
  const [instancetype, preference] = await Promise.all([
    find(kube, vm, 'instancetype', parseInstancetype),
    find(kube, vm, 'preference', parsePreference),
  ]);
  return {
    ...(instancetype === undefined || 'message' in instancetype ? {} : { instancetype }),
    ...(preference === undefined || 'message' in preference ? {} : { preference }),
    missing: [instancetype, preference].filter((found): found is Missing => found !== undefined && 'message' in found),
  };
};

/** What of it is to be applied. */
export const typesOf = ({ instancetype, preference }: Lookup): InstanceTypes => ({
  ...(instancetype === undefined ? {} : { instancetype: instancetype.spec }),
  ...(preference === undefined ? {} : { preference: preference.spec }),
});

const find = async <F extends ReferenceField>(
  kube: Reader,
  vm: VirtualMachine,
  field: F,
  parse: (object: unknown) => { spec: Spec[F] } & (Instancetype | Preference),
): Promise<Found<F> | Missing | undefined> => {
  const matcher = vm.spec[field];
  if (matcher === undefined) return undefined;
  const namespace = vm.metadata?.namespace ?? '';
  const missing = (message: string): Missing => ({ field, message });
  const revision = namedRevision(matcher) ?? storedRevision(vm, field);
  if (revision !== undefined) {
    const stored = await kube.get('ControllerRevision', { namespace, name: revision });
    if (stored === undefined)
      return missing(`ControllerRevision ${namespace}/${revision} is gone, in which the VM keeps it: refer to it anew`);
    return readable(missing, () => ({ spec: parse(stored.data).spec, revision }));
  }
  const kind = kindOf(field, matcher);
  if (kind === undefined) return missing(`there is no kind ${matcher.kind}: use ${KINDS_IN_WORDS[field]}`);
  const { name = '' } = matcher;
  if (name === '') return missing('it names none');
  const object = await getIfServed(kube, kind, isClusterWide(kind) ? { name } : { namespace, name });
  if (object === undefined)
    return missing(`there is no ${kind} ${isClusterWide(kind) ? '' : `${namespace}/`}${name}: create it`);
  return readable(missing, () => {
    const read = parse(object);
    return { spec: read.spec, kind, object: read };
  });
};

const KINDS_IN_WORDS: Record<ReferenceField, string> = {
  instancetype: 'VirtualMachineClusterInstancetype or VirtualMachineInstancetype',
  preference: 'VirtualMachineClusterPreference or VirtualMachinePreference',
};

const readable = <T>(missing: (message: string) => Missing, parse: () => T): T | Missing => {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    return missing(error.message);
  }
};

/** A kind that the cluster does not serve has no objects. */
export const getIfServed = async <K extends Kind>(kube: Reader, kind: K, name: Name): Promise<Kinds[K] | undefined> => {
  try {
    return await kube.get(kind, name);
  } catch (error) {
    if (isNotServed(error)) return undefined;
    throw error;
  }
};
