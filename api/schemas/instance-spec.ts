import { z } from 'zod';
import { devices, networks } from './devices.ts';
import { flag, present, quantities, quantity, text, texts, whole } from './primitives.ts';
import { affinity, tolerations, topologySpreadConstraints } from './scheduling.ts';
import { volumes } from './volumes.ts';

const feature = z.looseObject({ enabled: flag.optional() });

const cpu = z.looseObject({
  cores: whole.nonnegative().optional(),
  sockets: whole.nonnegative().optional(),
  threads: whole.nonnegative().optional(),
  maxSockets: whole.nonnegative().optional(),
  model: text.optional(),
  features: z.array(z.looseObject({ name: text, policy: text.optional() })).optional(),
  dedicatedCpuPlacement: flag.optional(),
  isolateEmulatorThread: flag.optional(),
  numa: z.looseObject({ guestMappingPassthrough: present.optional() }).optional(),
  realtime: present.optional(),
});

const memory = z.looseObject({
  guest: quantity.optional(),
  maxGuest: quantity.optional(),
  hugepages: z.looseObject({ pageSize: text.optional() }).optional(),
  reservedOverhead: z.looseObject({ addedOverhead: quantity.optional() }).optional(),
});

const firmware = z.looseObject({
  uuid: text.optional(),
  serial: text.optional(),
  acpi: z.looseObject({ slicNameRef: text.optional(), msdmNameRef: text.optional() }).optional(),
  bootloader: z
    .looseObject({
      bios: z.looseObject({ useSerial: flag.optional() }).optional(),
      efi: z.looseObject({ secureBoot: flag.optional(), persistent: flag.optional() }).optional(),
    })
    .optional(),
  kernelBoot: z
    .looseObject({
      kernelArgs: text.optional(),
      container: z
        .looseObject({
          image: text.optional(),
          kernelPath: text.optional(),
          initrdPath: text.optional(),
          imagePullPolicy: text.optional(),
          imagePullSecret: text.optional(),
        })
        .optional(),
    })
    .optional(),
});

const features = z.looseObject({
  acpi: feature.optional(),
  apic: feature.optional(),
  smm: feature.optional(),
  pvspinlock: feature.optional(),
  hypervPassthrough: feature.optional(),
  hyperv: z.record(text, feature.extend({ direct: feature.optional(), extended: feature.optional() })).optional(),
});

const domain = z.looseObject({
  cpu: cpu.optional(),
  memory: memory.optional(),
  resources: z
    .looseObject({
      requests: quantities.optional(),
      limits: quantities.optional(),
      overcommitGuestOverhead: flag.optional(),
    })
    .optional(),
  machine: z.looseObject({ type: text.optional() }).optional(),
  firmware: firmware.optional(),
  features: features.optional(),
  clock: z.looseObject({ timezone: text.optional(), timer: z.record(text, present).optional() }).optional(),
  devices: devices.default({}),
  ioThreadsPolicy: text.optional(),
  ioThreads: z.looseObject({ supplementalPoolThreadCount: whole.nonnegative().optional() }).optional(),
  rebootPolicy: text.optional(),
  launchSecurity: z
    .looseObject({
      sev: z.looseObject({ attestation: present.optional() }).optional(),
      snp: present.optional(),
      tdx: present.optional(),
    })
    .optional(),
});

const probe = z.looseObject({
  initialDelaySeconds: whole.optional(),
  timeoutSeconds: whole.optional(),
  periodSeconds: whole.optional(),
  successThreshold: whole.optional(),
  failureThreshold: whole.optional(),
  exec: z.looseObject({ command: z.array(text).optional() }).optional(),
  guestAgentPing: present.optional(),
  httpGet: z.looseObject({ scheme: text.optional() }).optional(),
  tcpSocket: present.optional(),
});

const credential = z.looseObject({
  source: z.looseObject({ secret: z.looseObject({ secretName: text.optional() }).optional() }),
  propagationMethod: z.looseObject({
    noCloud: present.optional(),
    configDrive: present.optional(),
    qemuGuestAgent: z.looseObject({ users: z.array(text).optional() }).optional(),
  }),
});

const resourceClaim = z.looseObject({
  name: text,
  resourceClaimName: text.optional(),
  resourceClaimTemplateName: text.optional(),
});

const dnsConfig = z.looseObject({
  nameservers: z.array(text).optional(),
  searches: z.array(text).optional(),
  options: z.array(z.looseObject({ name: text.optional(), value: text.optional() })).optional(),
});

/** Spec of a VMI, also in a VM's template: the fields that virtflow reads. */
export const instanceSpec = z.looseObject({
  domain: domain.default({ devices: {} }),
  volumes: volumes.optional(),
  networks: networks.optional(),
  architecture: text.optional(),
  terminationGracePeriodSeconds: whole.optional(),
  evictionStrategy: text.optional(),
  startStrategy: text.optional(),
  hostname: text.optional(),
  subdomain: text.optional(),
  dnsPolicy: text.optional(),
  dnsConfig: dnsConfig.optional(),
  nodeSelector: texts.optional(),
  affinity: affinity.optional(),
  tolerations: tolerations.optional(),
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  priorityClassName: text.optional(),
  schedulerName: text.optional(),
  serviceAccountName: text.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  resourceClaims: z.array(resourceClaim).optional(),
  utilityVolumes: z.array(z.looseObject({ name: text.optional() })).optional(),
  accessCredentials: z
    .array(z.looseObject({ sshPublicKey: credential.optional(), userPassword: credential.optional() }))
    .optional(),
});
