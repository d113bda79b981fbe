import type { Matcher, ReferenceField } from '../../api/instancetypes/index.ts';
import { REFERENCES } from '../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../api/kubevirt/types.ts';
import type { Kind, KubePort } from '../kube/port.ts';
import { getIfServed } from './find.ts';

type Reader = Pick<KubePort, 'get'>;

/** Why a volume does not say what it is for. */
export interface NotInferred {
  field: ReferenceField;
  message: string;
  /** Nothing is wrong with what the VM names, its volume has no word on it: for who does not mind, it is as if nothing had been asked. */
  isIgnorable: boolean;
}

type Inferred = { name: string; kind?: string } | Omit<NotInferred, 'field'>;

/**
 * Replaces references to volumes (`inferFromVolume`) by what the volumes say that they are for: labels of the claim, DataVolume, DataSource or snapshot
 * behind them, as KubeVirt looks for them. @throws KubeError
 */
export const inferReferences = async (
  kube: Reader,
  vm: VirtualMachine,
): Promise<{ vm: VirtualMachine; problem?: undefined } | { problem: NotInferred }> => {
  const spec = structuredClone(vm.spec);
  for (const field of REFERENCES) {
    const matcher = vm.spec[field];
    if (matcher?.inferFromVolume === undefined || matcher.inferFromVolume === '') continue;
    const inferred = await infer(kube, vm, matcher.inferFromVolume, field);
    const ignores = matcher.inferFromVolumeFailurePolicy === 'Ignore';
    if ('name' in inferred) {
      spec[field] = inferred satisfies Matcher;
      // Written for the case that nothing was found: the instance type has its own.
      if (field === 'instancetype' && ignores) delete spec.template.spec?.domain.memory;
    } else if (inferred.isIgnorable && ignores) {
      delete spec[field];
    } else {
      return { problem: { field, ...inferred } };
    }
  }
  return { vm: { ...vm, spec } };
};

const GROUP = 'instancetype.kubevirt.io';

const infer = async (kube: Reader, vm: VirtualMachine, name: string, field: ReferenceField): Promise<Inferred> => {
  const namespace = vm.metadata?.namespace ?? '';
  const volume = vm.spec.template.spec?.volumes?.find((one) => one.name === name);
  if (volume === undefined) return wrong(`there is no volume ${name}`);
  const look = lookFor(kube, field);
  const { persistentVolumeClaim: claim, dataVolume } = volume;
  if (claim !== undefined) return look.at('PersistentVolumeClaim', { namespace, name: claim.claimName });
  if (dataVolume === undefined) return silent(`volume ${name} is neither a claim nor a DataVolume`);
  const template = vm.spec.dataVolumeTemplates?.find(({ metadata }) => metadata?.name === dataVolume.name);
  if (template !== undefined) return look.behind(template.spec, namespace);
  const found = await getIfServed(kube, 'DataVolume', { namespace, name: dataVolume.name });
  // A DataVolume may be gone once its claim is filled.
  if (found === undefined) return look.at('PersistentVolumeClaim', { namespace, name: dataVolume.name });
  const said = look.in(found.metadata?.labels);
  return 'name' in said ? said : look.behind(found.spec, namespace);
};

const wrong = (message: string): Inferred => ({ message, isIgnorable: false });
const silent = (message: string): Inferred => ({ message, isIgnorable: true });

interface Source {
  pvc?: { name: string; namespace: string };
  snapshot?: { name: string; namespace: string };
}
interface Filling {
  source?: Source;
  sourceRef?: { kind: string; name: string; namespace?: string };
}

const lookFor = (kube: Reader, field: ReferenceField) => {
  const label = `${GROUP}/default-${field}`;
  const inLabels = (labels: Record<string, string> = {}): Inferred => {
    const { [label]: name, [`${label}-kind`]: kind } = labels;
    if (name === undefined) return silent(`label ${label} is not there`);
    return kind === undefined ? { name } : { name, kind };
  };
  const at = async (
    kind: Kind & ('PersistentVolumeClaim' | 'VolumeSnapshot'),
    name: { namespace: string; name: string },
  ): Promise<Inferred> => {
    const object = await getIfServed(kube, kind, name);
    const called = `${kind} ${name.namespace}/${name.name}`;
    if (object === undefined) return wrong(`there is no ${called}`);
    const said = inLabels(object.metadata?.labels);
    return 'name' in said ? said : { ...said, message: `${called}: ${said.message}` };
  };
  const of = ({ pvc, snapshot }: Source): Promise<Inferred> | undefined => {
    if (pvc !== undefined) return at('PersistentVolumeClaim', pvc);
    return snapshot === undefined ? undefined : at('VolumeSnapshot', snapshot);
  };
  const behind = async ({ source, sourceRef }: Filling, own: string): Promise<Inferred> => {
    const direct = of(source ?? {});
    if (direct !== undefined) return direct;
    if (sourceRef === undefined) return silent('what fills the volume is neither a claim nor a snapshot');
    const { kind, name, namespace = own } = sourceRef;
    if (kind !== 'DataSource') return silent(`nothing is known of ${kind} ${name}, which fills the volume`);
    const found = await getIfServed(kube, 'DataSource', { namespace, name });
    if (found === undefined) return wrong(`there is no DataSource ${namespace}/${name}`);
    const said = inLabels(found.metadata?.labels);
    if ('name' in said) return said;
    return of(found.spec.source) ?? silent(`DataSource ${namespace}/${name} has no claim or snapshot`);
  };
  return { in: inLabels, at, behind };
};
