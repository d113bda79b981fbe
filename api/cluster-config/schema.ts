import { z } from 'zod';

/**
 * What virtflow reads of a KubeVirt object. Unknown fields pass, so that objects of other releases stay readable; a known field of a wrong
 * type is refused with its path.
 */

const text = z.string();
const flag = z.boolean();
const count = z.number().int().nonnegative();
const texts = z.array(text);
const selectors = z.record(text, text);
/** Kubernetes quantity: JSON carries a string or a plain number. */
const quantity = z.union([z.string().regex(/^[+-]?(\d+|\d+\.\d*|\.\d+)([eE][+-]?\d+|[numkKMGTPE]i?)?$/), z.number()]);
const quantities = z.record(text, quantity);
const pullPolicy = z.enum(['Always', 'IfNotPresent', 'Never']);
/** Presence alone means "yes". */
const present = z.looseObject({});

const labelSelector = z.looseObject({
  matchLabels: selectors.optional(),
  matchExpressions: z.array(z.looseObject({ key: text, operator: text, values: texts.optional() })).optional(),
});

const architecture = z.looseObject({ machineType: text.optional(), emulatedMachines: texts.optional() });

const developerConfiguration = z.looseObject({
  useEmulation: flag.optional(),
  featureGates: texts.optional(),
  disabledFeatureGates: texts.optional(),
  cpuAllocationRatio: z.number().int().positive().optional(),
  memoryOvercommit: z.number().int().positive().optional(),
  nodeSelectors: selectors.optional(),
  logVerbosity: z.looseObject({ virtLauncher: count.optional() }).optional(),
});

/** migrationConfiguration with the defaults of KubeVirt 1.9. */
const migrations = z.looseObject({
  allowAutoConverge: flag.default(false),
  allowPostCopy: flag.default(false),
  /** Absent: as allowPostCopy. */
  allowWorkloadDisruption: flag.optional(),
  /** Bytes per second; 0: unlimited. */
  bandwidthPerMigration: quantity.default('0'),
  /** Seconds. */
  completionTimeoutPerGiB: count.default(150),
  /** At most what QEMU takes. */
  /** Absent: QEMU's own 300. KubeVirt sets 900, so that guests stand still longer. */
  maxDowntimeMs: count.max(2_000_000).optional(),
  nodeDrainTaintKey: text.default('kubevirt.io/drain'),
  parallelMigrationsPerCluster: count.default(5),
  parallelOutboundMigrationsPerNode: count.default(2),
  /** Seconds. */
  progressTimeout: count.default(150),
  unsafeMigrationOverride: flag.default(false),
  utilityVolumesTimeout: count.default(150),
  matchSELinuxLevelOnMigration: flag.optional(),
  disableTLS: flag.optional(),
  network: text.optional(),
});

/** What an object without migrationConfiguration has. */
export const DEFAULT_MIGRATIONS = migrations.parse({});

const configuration = z.looseObject({
  additionalGuestMemoryOverheadRatio: z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'expected a decimal number in quotes, such as "1.5"')
    .optional(),
  architectureConfiguration: z
    .looseObject({
      defaultArchitecture: text.optional(),
      amd64: architecture.optional(),
      arm64: architecture.optional(),
      s390x: architecture.optional(),
    })
    .optional(),
  autoCPULimitNamespaceLabelSelector: labelSelector.optional(),
  cpuModel: text.optional(),
  cpuRequest: quantity.optional(),
  defaultRuntimeClass: text.optional(),
  developerConfiguration: developerConfiguration.optional(),
  emulatedMachines: texts.optional(),
  evictionStrategy: z.enum(['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External']).optional(),
  imagePullPolicy: pullPolicy.optional(),
  liveUpdateConfiguration: z
    .looseObject({
      maxHotplugRatio: count.optional(),
      maxCpuSockets: count.optional(),
      maxGuest: quantity.optional(),
    })
    .optional(),
  machineType: text.optional(),
  memBalloonStatsPeriod: count.optional(),
  migrations: migrations.optional(),
  minCPUModel: text.optional(),
  network: z
    .looseObject({
      defaultNetworkInterface: z.enum(['bridge', 'masquerade', 'slirp', 'passt']).optional(),
      permitBridgeInterfaceOnPodNetwork: flag.optional(),
      /** Plug-ins by name. */
      binding: z.record(text, present).optional(),
    })
    .optional(),
  obsoleteCPUModels: z.record(text, flag).optional(),
  seccompConfiguration: z
    .looseObject({
      virtualMachineInstanceProfile: z
        .looseObject({
          customProfile: z
            .looseObject({ localhostProfile: text.optional(), runtimeDefaultProfile: flag.optional() })
            .optional(),
        })
        .optional(),
    })
    .optional(),
  selinuxLauncherType: text.optional(),
  smbios: z
    .looseObject({
      family: text.optional(),
      manufacturer: text.optional(),
      product: text.optional(),
      sku: text.optional(),
      version: text.optional(),
    })
    .optional(),
  virtualMachineOptions: z
    .looseObject({
      disableFreePageReporting: present.optional(),
      disableSerialConsoleLog: present.optional(),
    })
    .optional(),
  supportContainerResources: z
    .array(
      z.looseObject({
        type: text,
        resources: z.looseObject({ requests: quantities.optional(), limits: quantities.optional() }),
      }),
    )
    .optional(),
  vmRolloutStrategy: z.enum(['LiveUpdate', 'Stage']).optional(),
  vmStateStorageClass: text.optional(),
});

export const kubeVirtSchema = z.looseObject({
  metadata: z
    .looseObject({
      namespace: text.optional(),
      name: text.optional(),
      annotations: selectors.nullish(),
    })
    .optional(),
  spec: z
    .looseObject({
      configuration: configuration.optional(),
    })
    .optional(),
});

export type MigrationConfiguration = z.infer<typeof migrations>;
export type LabelSelector = z.infer<typeof labelSelector>;
export type ReadConfiguration = z.infer<typeof configuration>;
