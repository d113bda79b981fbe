import type { KubeVirt } from '../kubevirt/types.ts';
import { isTrue } from '../kubernetes/boolean.ts';
import { fieldIssues, issueText } from '../schemas/issues.ts';
import type { FieldIssue } from '../schemas/issues.ts';
import { gatesInForce } from './feature-gates.ts';
import { DEFAULT_MIGRATIONS, kubeVirtSchema } from './schema.ts';
import type { LabelSelector, MigrationConfiguration, ReadConfiguration } from './schema.ts';

export type { LabelSelector, MigrationConfiguration } from './schema.ts';

/** The cluster's configuration in force: what the KubeVirt object says, completed with KubeVirt's defaults. JSON only. */
export interface ClusterConfig {
  /** Run without /dev/kvm; neither kvm nor vhost-net is asked of the node. */
  useEmulation: boolean;
  /** Gates in force, sorted; ask with `hasGate`. */
  featureGates: string[];
  defaultArchitecture: string;
  /** Machine type per architecture. */
  machineTypes: Record<'amd64' | 'arm64' | 's390x', string>;
  /** Patterns of machine types that guests may name, per architecture. */
  emulatedMachines: Record<'amd64' | 'arm64' | 's390x', string[]>;
  /** CPU model of VMIs that name none; absent: host-model. */
  cpuModel?: string;
  minCPUModel?: string;
  obsoleteCPUModels: Record<string, boolean>;
  /** CPU that a VMI requests when it says nothing of CPU; a quantity. */
  cpuRequest: string;
  /** vCPUs per requested CPU. */
  cpuAllocationRatio: number;
  /** Guest memory in percent of requested memory. */
  memoryOvercommit: number;
  /** Factor on the memory overhead of the launcher Pod; absent: 1. */
  additionalGuestMemoryOverheadRatio?: number;
  /** Namespaces whose labels match get CPU limits set on launcher Pods. */
  autoCPULimitNamespaceLabelSelector?: LabelSelector;
  imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Node labels that every launcher Pod selects. */
  nodeSelectors: Record<string, string>;
  defaultRuntimeClass?: string;
  /** Strategy of VMIs that name none. */
  evictionStrategy: 'None' | 'LiveMigrate' | 'LiveMigrateIfPossible' | 'External';
  defaultNetworkInterface: 'bridge' | 'masquerade' | 'slirp' | 'passt';
  permitBridgeInterfaceOnPodNetwork: boolean;
  /** Names of the network binding plug-ins. */
  networkBindings: string[];
  /** SELinux type of launcher Pods; absent: the runtime's. */
  selinuxLauncherType?: string;
  /** Seccomp profile of launcher Pods. */
  seccomp?: { localhostProfile: string } | { runtimeDefault: true };
  /** Storage back-up hooks are left out of launcher Pods. */
  skipBackupHooks: boolean;
  /** Init containers that pull images before the launcher's container are left out of launcher Pods that hold images in containers. */
  skipImageInitContainers: boolean;
  virtualMachineOptions: { freePageReporting: boolean; serialConsoleLog: boolean };
  /** Seconds between statistics of the balloon; 0: off. */
  memBalloonStatsPeriod: number;
  smbios: { family: string; manufacturer: string; product: string; sku?: string; version?: string };
  liveUpdate: { maxHotplugRatio: number; maxCpuSockets?: number; maxGuest?: string };
  vmRolloutStrategy: 'LiveUpdate' | 'Stage';
  /** Resources of helper containers by type (container-disk, guest-console-log, …). */
  supportContainers: Record<string, { requests: Record<string, string>; limits: Record<string, string> }>;
  launcherLogVerbosity: number;
  migrations: MigrationConfiguration;
  /** Of the claims for the state of TPM and firmware; absent: the cluster's default. */
  vmStateStorageClass?: string;
}

/** The KubeVirt object cannot be read: nothing is decided with half a configuration. */
export class UnreadableConfiguration extends Error {
  override readonly name = 'UnreadableConfiguration';
}

/** Upstream's annotation that keeps back-up hooks off Pods, on a VMI or on the KubeVirt object. */
export const SKIP_BACKUP_HOOKS = 'kubevirt.io/skip-backup-hooks';

/** Annotation of the KubeVirt object: a VM with container disks starts sooner, with other containers than KubeVirt's. */
export const SKIP_IMAGE_INIT_CONTAINERS = 'virtflow.io/skip-image-init-containers';

const DEFAULT_SMBIOS = { family: 'KubeVirt', manufacturer: 'KubeVirt', product: 'None' };

/** True if the gate is in force. */
export const hasGate = (config: Pick<ClusterConfig, 'featureGates'>, gate: string): boolean =>
  config.featureGates.includes(gate);

/**
 * The configuration that a KubeVirt object results in; without an object, KubeVirt's defaults.
 * @throws UnreadableConfiguration naming every field of a wrong type and how to correct it
 */
export const effectiveConfiguration = (kubevirt: KubeVirt | undefined): ClusterConfig => {
  const parsed = kubeVirtSchema.safeParse(kubevirt ?? {});
  if (!parsed.success) {
    const { namespace, name } = nameOf(kubevirt);
    throw new UnreadableConfiguration(
      `KubeVirt ${namespace}/${name} cannot be read: ${issueText(parsed.error)}. ` +
        `Correct it with: kubectl -n ${namespace} edit kubevirt ${name}`,
    );
  }
  const annotations = parsed.data.metadata?.annotations ?? {};
  return {
    ...configurationOf(parsed.data.spec?.configuration ?? {}),
    skipBackupHooks: isTrue(annotations[SKIP_BACKUP_HOOKS]),
    skipImageInitContainers: isTrue(annotations[SKIP_IMAGE_INIT_CONTAINERS]),
  };
};

/** Every field of a KubeVirt object that cannot be read; none: `effectiveConfiguration` takes it. */
export const unreadableFields = (kubevirt: unknown): FieldIssue[] => {
  const { error } = kubeVirtSchema.safeParse(kubevirt);
  return error === undefined ? [] : fieldIssues(error);
};

const configurationOf = (
  read: ReadConfiguration,
): Omit<ClusterConfig, 'skipBackupHooks' | 'skipImageInitContainers'> => {
  const developer = read.developerConfiguration ?? {};
  const architectures = read.architectureConfiguration ?? {};
  const machine = (architecture: { machineType?: string | undefined } | undefined, fallback: string): string =>
    read.machineType || architecture?.machineType || fallback;
  return {
    useEmulation: developer.useEmulation ?? false,
    featureGates: gatesInForce(developer.featureGates ?? [], developer.disabledFeatureGates ?? []),
    defaultArchitecture: architectures.defaultArchitecture ?? 'amd64',
    machineTypes: {
      amd64: machine(architectures.amd64, 'q35'),
      arm64: machine(architectures.arm64, 'virt'),
      s390x: machine(architectures.s390x, 's390-ccw-virtio'),
    },
    emulatedMachines: {
      amd64: read.emulatedMachines ?? architectures.amd64?.emulatedMachines ?? ['q35*', 'pc-q35*'],
      arm64: read.emulatedMachines ?? architectures.arm64?.emulatedMachines ?? ['virt*'],
      s390x: read.emulatedMachines ?? architectures.s390x?.emulatedMachines ?? ['s390-ccw-virtio*'],
    },
    obsoleteCPUModels: read.obsoleteCPUModels ?? {},
    cpuRequest: String(read.cpuRequest ?? '100m'),
    cpuAllocationRatio: developer.cpuAllocationRatio ?? 10,
    memoryOvercommit: developer.memoryOvercommit ?? 100,
    imagePullPolicy: read.imagePullPolicy ?? 'IfNotPresent',
    nodeSelectors: developer.nodeSelectors ?? {},
    evictionStrategy: read.evictionStrategy ?? 'None',
    defaultNetworkInterface: read.network?.defaultNetworkInterface ?? 'bridge',
    permitBridgeInterfaceOnPodNetwork: read.network?.permitBridgeInterfaceOnPodNetwork ?? true,
    networkBindings: Object.keys(read.network?.binding ?? {}),
    virtualMachineOptions: {
      freePageReporting: read.virtualMachineOptions?.disableFreePageReporting === undefined,
      serialConsoleLog: read.virtualMachineOptions?.disableSerialConsoleLog === undefined,
    },
    memBalloonStatsPeriod: read.memBalloonStatsPeriod ?? 10,
    smbios: smbiosOf(read),
    liveUpdate: liveUpdateOf(read),
    vmRolloutStrategy: read.vmRolloutStrategy ?? 'LiveUpdate',
    supportContainers: supportContainersOf(read),
    launcherLogVerbosity: developer.logVerbosity?.virtLauncher ?? 2,
    migrations: read.migrations ?? DEFAULT_MIGRATIONS,
    ...optionalsOf(read),
  };
};

/** Settings that stay absent when the object does not carry them. */
const optionalsOf = (read: ReadConfiguration): Partial<ClusterConfig> => {
  const seccomp = seccompOf(read);
  const ratio = read.additionalGuestMemoryOverheadRatio;
  const cpuLimits = read.autoCPULimitNamespaceLabelSelector;
  return {
    ...(read.cpuModel ? { cpuModel: read.cpuModel } : {}),
    ...(read.minCPUModel ? { minCPUModel: read.minCPUModel } : {}),
    ...(ratio === undefined ? {} : { additionalGuestMemoryOverheadRatio: Number(ratio) }),
    ...(cpuLimits ? { autoCPULimitNamespaceLabelSelector: cpuLimits } : {}),
    ...(read.defaultRuntimeClass ? { defaultRuntimeClass: read.defaultRuntimeClass } : {}),
    ...(read.selinuxLauncherType ? { selinuxLauncherType: read.selinuxLauncherType } : {}),
    ...(seccomp ? { seccomp } : {}),
    ...(read.vmStateStorageClass ? { vmStateStorageClass: read.vmStateStorageClass } : {}),
  };
};

const seccompOf = (read: ReadConfiguration): ClusterConfig['seccomp'] => {
  const profile = read.seccompConfiguration?.virtualMachineInstanceProfile?.customProfile;
  if (profile?.localhostProfile) return { localhostProfile: profile.localhostProfile };
  return profile?.runtimeDefaultProfile ? { runtimeDefault: true } : undefined;
};

const smbiosOf = ({ smbios }: ReadConfiguration): ClusterConfig['smbios'] => ({
  family: smbios?.family ?? DEFAULT_SMBIOS.family,
  manufacturer: smbios?.manufacturer ?? DEFAULT_SMBIOS.manufacturer,
  product: smbios?.product ?? DEFAULT_SMBIOS.product,
  ...(smbios?.sku ? { sku: smbios.sku } : {}),
  ...(smbios?.version ? { version: smbios.version } : {}),
});

const liveUpdateOf = ({ liveUpdateConfiguration: read }: ReadConfiguration): ClusterConfig['liveUpdate'] => ({
  maxHotplugRatio: read?.maxHotplugRatio ?? 4,
  ...(read?.maxCpuSockets === undefined ? {} : { maxCpuSockets: read.maxCpuSockets }),
  ...(read?.maxGuest === undefined ? {} : { maxGuest: String(read.maxGuest) }),
});

const supportContainersOf = (read: ReadConfiguration): ClusterConfig['supportContainers'] => {
  const text = (quantities: Record<string, string | number> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));
  return Object.fromEntries(
    (read.supportContainerResources ?? []).map(({ type, resources }) => [
      type,
      { requests: text(resources.requests), limits: text(resources.limits) },
    ]),
  );
};

const nameOf = (kubevirt: KubeVirt | undefined): { namespace: string; name: string } => ({
  namespace: kubevirt?.metadata?.namespace ?? 'kubevirt',
  name: kubevirt?.metadata?.name ?? 'kubevirt',
});
