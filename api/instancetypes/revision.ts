import type { ControllerRevision } from '../kubernetes/types.ts';
import type { VirtualMachine } from '../kubevirt/types.ts';
import type { ReferencedKind, ReferenceField } from './references.ts';
import { INSTANCETYPE_API_VERSION, storedRevision } from './references.ts';
import type { Instancetype, Preference } from './types.ts';

const [GROUP = '', VERSION = ''] = INSTANCETYPE_API_VERSION.split('/');
const label = (name: string): string => `${GROUP}/object-${name}`;

/**
 * The copy of an instance type or preference that a VM keeps, so that it stays as it was when the VM referred to it: a ControllerRevision of the VM,
 * named and labelled as KubeVirt does it.
 */
export const revisionOf = (
  { metadata: owner }: VirtualMachine,
  kind: ReferencedKind,
  { metadata, spec }: Instancetype | Preference,
): ControllerRevision & { metadata: { name: string } } => {
  const { name = '', namespace, uid = '', generation = 0, resourceVersion } = metadata ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: [owner?.name, name, VERSION, uid, generation].join('-'),
      ...(owner?.namespace === undefined ? {} : { namespace: owner.namespace }),
      labels: {
        [label('generation')]: `${generation}`,
        [label('kind')]: kind,
        [label('name')]: name,
        [label('uid')]: uid,
        [label('version')]: VERSION,
      },
    },
    data: {
      apiVersion: INSTANCETYPE_API_VERSION,
      kind,
      metadata: {
        ...{ name, uid, generation },
        ...(namespace === undefined ? {} : { namespace }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      spec,
    },
    revision: 0,
  };
};

/** The VM's spec with the revisions by name that its status refers to: what it stands for by itself, whatever its status says later. */
export const withRevisions = (vm: Pick<VirtualMachine, 'spec' | 'status'>): VirtualMachine['spec'] => {
  const { spec } = vm;
  const pinned = (field: ReferenceField): object => {
    const name = storedRevision(vm, field);
    const matcher = spec[field];
    return matcher === undefined || name === undefined ? {} : { [field]: { ...matcher, revisionName: name } };
  };
  return { ...spec, ...pinned('instancetype'), ...pinned('preference') };
};
