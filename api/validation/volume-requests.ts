import type { ClusterConfig } from '../cluster-config/index.ts';
import { withSpecDefaults } from '../defaults/index.ts';
import type { VirtualMachine, VirtualMachineInstanceSpec, VirtualMachineStatus } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { inTemplate, invalid, when } from './cause.ts';
import { causesOf, SPEC_RULES } from './instance.ts';

type Request = NonNullable<VirtualMachineStatus['volumeRequests']>[number];
type Addition = NonNullable<Request['addVolumeOptions']>;

const FIELD = 'Status.volumeRequests';

/** Requests to plug volumes fit each other and the template; with them carried out, the template still holds. */
export const volumeRequestCauses = (vm: VirtualMachine, config: ClusterConfig): Cause[] => {
  const requests = vm.status?.volumeRequests ?? [];
  const spec = vm.spec.template.spec;
  if (requests.length === 0 || spec === undefined) return [];
  const causes = requests.flatMap((request, index) => oneRequest(request, requests.slice(0, index), spec));
  if (causes.length > 0) return causes;
  const carriedOut = withSpecDefaults(requests.reduce(carryOut, structuredClone(spec)), config);
  const before = new Set(
    causesOf(SPEC_RULES, { spec: withSpecDefaults(spec, config) }, config).map(({ field }) => field),
  );
  return inTemplate(causesOf(SPEC_RULES, { spec: carriedOut }, config).filter(({ field }) => !before.has(field)));
};

const oneRequest = (request: Request, earlier: Request[], spec: VirtualMachineInstanceSpec): Cause[] => {
  const { addVolumeOptions: add, removeVolumeOptions: remove } = request;
  if ((add === undefined) === (remove === undefined))
    return [invalid(FIELD, 'a request adds or removes a volume: set one of addVolumeOptions and removeVolumeOptions')];
  if (add === undefined)
    return when(
      earlier.some(({ removeVolumeOptions }) => removeVolumeOptions?.name === remove?.name),
      () => invalid(FIELD, `an earlier request removes "${remove?.name}"`),
    );
  return [
    ...when(
      earlier.some(({ addVolumeOptions }) => addVolumeOptions?.name === add.name),
      () => invalid(FIELD, `an earlier request adds "${add.name}"`),
    ),
    ...pluggable(add),
    ...conflict(add, spec),
  ];
};

/** What buses can be plugged. */
const pluggable = ({ name, disk: given }: Addition): Cause[] => {
  const { disk, lun, dedicatedIOThread, bootOrder } = given ?? {};
  const buses = disk !== undefined ? ['scsi', 'virtio'] : ['scsi'];
  const bus = (disk ?? lun)?.bus ?? '';
  if (disk === undefined && lun === undefined) return [invalid(FIELD, `"${name}" is plugged as disk or lun: set one`)];
  if (!buses.includes(bus))
    return [invalid(FIELD, `"${name}" cannot be plugged on the bus "${bus}": use ${buses.join(' or ')}`)];
  return [
    ...when(dedicatedIOThread === true && bus !== 'virtio', () =>
      invalid(FIELD, `"${name}" cannot have its own IO thread on the bus ${bus}: use virtio`),
    ),
    ...when(bootOrder !== undefined && bootOrder < 1, () =>
      invalid('spec.domain.devices.disks[1].bootOrder', `the order of "${name}" starts at 1`),
    ),
  ];
};

const conflict = ({ name, volumeSource }: Addition, { volumes = [] }: VirtualMachineInstanceSpec): Cause[] => {
  const there = volumes.find((volume) => volume.name === name);
  const { dataVolume, persistentVolumeClaim } = volumeSource;
  const same =
    there?.persistentVolumeClaim?.claimName === persistentVolumeClaim?.claimName &&
    there?.dataVolume?.name === dataVolume?.name;
  return when(there !== undefined && !same, () =>
    invalid(FIELD, `the template has another volume "${name}": choose another name`),
  );
};

const carryOut = (spec: VirtualMachineInstanceSpec, request: Request): VirtualMachineInstanceSpec => {
  const { addVolumeOptions: add, removeVolumeOptions: remove } = request;
  const name = add?.name ?? remove?.name;
  const { devices } = spec.domain;
  const volumes = (spec.volumes ?? []).filter((volume) => volume.name !== name);
  const disks = (devices.disks ?? []).filter((disk) => disk.name !== name);
  return {
    ...spec,
    volumes: add === undefined ? volumes : [...volumes, { name: add.name, ...add.volumeSource }],
    domain: {
      ...spec.domain,
      devices: { ...devices, disks: add === undefined ? disks : [...disks, { ...add.disk, name: add.name }] },
    },
  };
};
