import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, VolumeStatus } from '../../../api/kubevirt/types.ts';
import type { DomainHardware } from '../../../api/launcher/reports.ts';
import type { Claims } from '../volumes/claims.ts';
import { claimsOf, volumesOf } from '../volumes/claims.ts';

/** Share of a file system that its own bookkeeping takes, where CDI does not say otherwise (CDI's default). */
const FILESYSTEM_OVERHEAD = '0.055';

/** Ends of annotations on claims whose space is taken in advance, whoever's they are. */
const PREALLOCATED = ['/storage.preallocation', '/storage.thick-provisioned'];

/**
 * status.volumeStatus: every volume by name, with what its claim is like and the name that its disk has in the guest. What is not looked at now
 * (claims, a domain) stays as the object says, plugged volumes entirely.
 */
export const volumeStatuses = (
  vmi: VirtualMachineInstance,
  { claims, hardware }: { claims?: Claims | undefined; hardware?: DomainHardware | undefined },
): VolumeStatus[] => {
  const before = vmi.status?.volumeStatus ?? [];
  const used = claimsOf(vmi);
  const ofSpec = volumesOf(vmi.spec).map((volume): VolumeStatus => {
    const { name } = volume;
    const known = before.find((status) => status.name === name);
    const claimName = volume.ephemeral === undefined ? used.find((use) => use.volume === name)?.claim : undefined;
    const claim = claimName === undefined ? undefined : claims?.[claimName];
    const disk = hardware?.disks?.[name];
    return {
      ...known,
      name,
      target: disk?.target ?? known?.target ?? '',
      ...(disk?.size === undefined ? {} : { size: disk.size }),
      ...(claim === undefined ? {} : { persistentVolumeClaimInfo: claimInfo(claim) }),
    };
  });
  const plugged = before.filter(
    ({ name, hotplugVolume }) => hotplugVolume !== undefined && !ofSpec.some((one) => one.name === name),
  );
  return [...ofSpec, ...plugged].sort((a, b) => (a.name < b.name ? -1 : 1));
};

type ClaimInfo = NonNullable<VolumeStatus['persistentVolumeClaimInfo']>;

/** The generated types of the two APIs have lists of their own for modes: a claim's are taken as they are. */
const claimInfo = ({ metadata, spec, status }: PersistentVolumeClaim): ClaimInfo => {
  const { accessModes, volumeMode } = spec ?? {};
  return {
    ...(metadata?.name === undefined ? {} : { claimName: metadata.name }),
    ...({
      ...(accessModes === undefined ? {} : { accessModes }),
      ...(volumeMode === undefined ? {} : { volumeMode }),
    } as Pick<ClaimInfo, 'accessModes' | 'volumeMode'>),
    ...(status?.capacity === undefined ? {} : { capacity: status.capacity }),
    ...(spec?.resources?.requests === undefined ? {} : { requests: spec.resources.requests }),
    ...(isPreallocated(metadata?.annotations) ? { preallocated: true } : {}),
    filesystemOverhead: FILESYSTEM_OVERHEAD,
  };
};

const isPreallocated = (annotations: Record<string, string> = {}): boolean =>
  Object.entries(annotations).some(([key, value]) => value === 'true' && PREALLOCATED.some((end) => key.endsWith(end)));
