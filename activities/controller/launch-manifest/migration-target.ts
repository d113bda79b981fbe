import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Node, Pod, PodSpec } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { KERNEL_BOOT_VOLUME, diskContainer } from '../../../api/launcher/paths.ts';
import { CREATED_BY_LABEL } from '../../facts/labels.ts';
import { CPU_FEATURE } from './node-selector.ts';
import { kernelBootImage, selinuxLevelOf } from './traits.ts';

/** What a target Pod takes over from where the guest runs now, and what the VMIM asks for. */
export interface TargetInput {
  addedNodeSelector?: Record<string, string>;
  sourcePod: Pick<Pod, 'spec'>;
  sourceNode: Pick<Node, 'metadata'>;
}

const CPU_MODEL_FOR_MIGRATION = 'cpu-model-migration.node.kubevirt.io/';
const CPU_VENDOR = 'cpu-vendor.node.kubevirt.io/';
/** On a node: its own CPU's model, and the features that a guest with that CPU needs. */
const HOST_MODEL = 'host-model-cpu.node.kubevirt.io/';
const HOST_MODEL_FEATURE = 'host-model-required-features.node.kubevirt.io/';

/**
 * The VMI with the images that the source's containers run, by digest: the target must put its overlays over the same content, and a tag may
 * have moved since. Where images are mounted, a source that was a target itself names the digest there, and has no container for it. An image that
 * no registry gave has no digest and keeps its name.
 */
export const withImagesOf = (
  vmi: VirtualMachineInstance,
  { spec, status }: Pick<Pod, 'spec' | 'status'>,
): VirtualMachineInstance => {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const pinned = (image: string, volume: string): string => {
    const mounted = spec?.volumes?.find(({ name }) => name === volume)?.image?.reference;
    const imageID = statuses.find(({ name }) => name === diskContainer(volume))?.imageID;
    const digest = digestOf(imageID) ?? digestOf(mounted);
    return digest === undefined ? image : image.replace(/@.*$/, '').replace(/:[^/:]*$/, '') + digest;
  };
  const volumes = vmi.spec.volumes?.map((volume) => {
    const disk = volume.containerDisk;
    if (disk === undefined) return volume;
    return { ...volume, containerDisk: { ...disk, image: pinned(disk.image, volume.name) } };
  });
  const kernel = kernelBootImage(vmi);
  const { domain } = vmi.spec;
  return {
    ...vmi,
    spec: {
      ...vmi.spec,
      ...(volumes === undefined ? {} : { volumes }),
      ...(kernel === undefined ? {} : { domain: withKernelImage(domain, pinned(kernel.image, KERNEL_BOOT_VOLUME)) }),
    },
  };
};

/** `@sha256:…` of an image's id or reference. */
const digestOf = (image: string | undefined): string | undefined => /@.+$/.exec(image ?? '')?.[0];

type Domain = VirtualMachineInstance['spec']['domain'];

const withKernelImage = (domain: Domain, image: string): Domain => {
  const kernelBoot = domain.firmware?.kernelBoot;
  return {
    ...domain,
    firmware: { ...domain.firmware, kernelBoot: { ...kernelBoot, container: { ...kernelBoot?.container, image } } },
  };
};

/** Where a target Pod may go besides what every launcher Pod of the VMI asks for, and with which SELinux level. */
export const asTarget = (
  spec: PodSpec,
  vmi: VirtualMachineInstance,
  config: Pick<ClusterConfig, 'migrations'>,
  { addedNodeSelector, sourcePod, sourceNode }: TargetInput,
): PodSpec => {
  const level = config.migrations.matchSELinuxLevelOnMigration === false ? undefined : selinuxLevel(vmi, sourcePod);
  return {
    ...spec,
    nodeSelector: {
      ...addedNodeSelector,
      ...spec.nodeSelector,
      ...cpuSelector(vmi, sourcePod, sourceNode.metadata?.labels ?? {}),
    },
    affinity: apartFrom(spec.affinity ?? {}, vmi),
    securityContext: {
      ...spec.securityContext,
      ...(level === undefined ? {} : { seLinuxOptions: { ...spec.securityContext?.seLinuxOptions, level } }),
    },
  };
};

/** Never on a node that has a launcher Pod of the same VMI: neither the source's nor that of a leftover. */
const apartFrom = (
  affinity: NonNullable<PodSpec['affinity']>,
  { metadata }: VirtualMachineInstance,
): NonNullable<PodSpec['affinity']> => {
  const { podAntiAffinity = {} } = affinity;
  const own = {
    labelSelector: { matchLabels: { [CREATED_BY_LABEL]: metadata?.uid ?? '' } },
    topologyKey: 'kubernetes.io/hostname',
  };
  const required = podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    ...affinity,
    podAntiAffinity: { ...podAntiAffinity, requiredDuringSchedulingIgnoredDuringExecution: [...required, own] },
  };
};

/**
 * A guest with the host's model takes the CPU of the node it started on along. What that is was said when it moved first, on the Pod which that
 * made; before, its node's labels say it.
 */
const cpuSelector = (
  { spec }: VirtualMachineInstance,
  { spec: source }: Pick<Pod, 'spec'>,
  labels: Record<string, string>,
): Record<string, string> => {
  const vendor = entries(labels, (key) => (key.startsWith(CPU_VENDOR) ? key : undefined));
  const model = spec.domain.cpu?.model ?? 'host-model';
  if (model !== 'host-model') return vendor;
  const carried = entries(source?.nodeSelector ?? {}, (key) =>
    key.startsWith(CPU_MODEL_FOR_MIGRATION) || key.startsWith(CPU_FEATURE) ? key : undefined,
  );
  if (Object.keys(carried).length > 0) return { ...vendor, ...carried };
  return {
    ...vendor,
    ...entries(labels, renamed(HOST_MODEL, CPU_MODEL_FOR_MIGRATION)),
    ...entries(labels, renamed(HOST_MODEL_FEATURE, CPU_FEATURE)),
  };
};

const renamed =
  (from: string, to: string) =>
  (key: string): string | undefined =>
    key.startsWith(from) ? to + key.slice(from.length) : undefined;

/** The entries whose key gives another (or the same) one. */
const entries = (given: Record<string, string>, keyOf: (key: string) => string | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => {
      const wanted = keyOf(key);
      return wanted === undefined ? [] : [[wanted, value]];
    }),
  );

/** Level of the guest's files: as the VMI says, else as the source Pod was given it. */
const selinuxLevel = (vmi: VirtualMachineInstance, { spec }: Pick<Pod, 'spec'>): string | undefined =>
  selinuxLevelOf(vmi) || spec?.securityContext?.seLinuxOptions?.level;
