import type { VirtualMachine, VirtualMachineSpec } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { invalid, required, when } from './cause.ts';

type Template = NonNullable<VirtualMachineSpec['dataVolumeTemplates']>[number];

/** Each DataVolume that a VM makes is whole and used by one of its volumes. The first fault of each is told. */
export const dataVolumeTemplateCauses = ({ dataVolumeTemplates = [], template }: VirtualMachineSpec): Cause[] =>
  dataVolumeTemplates.flatMap((entry, index) => {
    const field = `spec.dataVolumeTemplate[${index}]`;
    const fault = faultOf(entry, field);
    if (fault !== undefined) return [fault];
    const name = entry.metadata?.name;
    const used = (template.spec?.volumes ?? []).some(
      ({ dataVolume, persistentVolumeClaim }) => dataVolume?.name === name || persistentVolumeClaim?.claimName === name,
    );
    return when(!used, () => required(field, `no volume of the template uses "${name}": add one, or drop the entry`));
  });

const faultOf = ({ metadata, spec }: Template, field: string): Cause | undefined => {
  if (!metadata?.name) return required(`${field}.name`, 'name it in metadata.name');
  const { pvc, source, sourceRef, storage } = spec;
  const size = `${field}.PVC.Storage`;
  if (pvc === undefined && storage === undefined) return invalid(size, 'say what storage it asks for: set storage');
  if (pvc !== undefined && storage !== undefined) return invalid(size, 'it has pvc and storage: keep one');
  const { dataSource, dataSourceRef } = { ...pvc, ...storage };
  const populated = dataSource !== undefined || dataSourceRef !== undefined;
  const from = source !== undefined || sourceRef !== undefined;
  if (populated && from)
    return invalid(`${field}.source`, 'a dataSource of its storage fills it already: drop source and sourceRef');
  if (!populated && !from) return invalid(`${field}.source.sourceRef`, 'say what fills it: set source or sourceRef');
  const kinds = Object.keys(source ?? {});
  return source === undefined || kinds.length === 1
    ? undefined
    : invalid(`${field}.source`, kinds.length === 0 ? 'it names no source' : `it is ${kinds.join(' and ')}: keep one`);
};

/** They are made in the VM's own namespace. Those of an old VM are left alone. */
export const namespaceCauses = ({ metadata, spec }: VirtualMachine, old?: VirtualMachine): Cause[] => {
  const { dataVolumeTemplates = [] } = spec;
  if (old !== undefined && JSON.stringify(old.spec.dataVolumeTemplates) === JSON.stringify(dataVolumeTemplates))
    return [];
  return dataVolumeTemplates.flatMap((entry, index) => {
    const namespace = entry.metadata?.namespace ?? '';
    return when(namespace !== '' && namespace !== metadata?.namespace, () =>
      invalid(`spec.dataVolumeTemplates[${index}]`, `it is made in the VM's namespace, not in ${namespace}: drop it`),
    );
  });
};
