import { z } from 'zod';
import { devices, networks } from './devices.ts';
import { flag, present, quantities, quantity, text, texts, whole } from './primitives.ts';
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
  launchSecurity: present.optional(),
});

const probe = z.looseObject({
  initialDelaySeconds: whole.optional(),
  timeoutSeconds: whole.optional(),
  periodSeconds: whole.optional(),
  successThreshold: whole.optional(),
  failureThreshold: whole.optional(),
  exec: z.looseObject({ command: z.array(text).optional() }).optional(),
  guestAgentPing: present.optional(),
  httpGet: present.optional(),
  tcpSocket: present.optional(),
});

const affinity = z.looseObject({
  nodeAffinity: z
    .looseObject({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .looseObject({
          nodeSelectorTerms: z.array(z.looseObject({ matchExpressions: z.array(present).optional() })).optional(),
        })
        .optional(),
    })
    .optional(),
});

const credential = z.looseObject({
  source: z.looseObject({ secret: z.looseObject({ secretName: text.optional() }).optional() }),
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
  dnsConfig: present.optional(),
  nodeSelector: texts.optional(),
  affinity: affinity.optional(),
  tolerations: z.array(present).optional(),
  topologySpreadConstraints: z.array(present).optional(),
  priorityClassName: text.optional(),
  schedulerName: text.optional(),
  serviceAccountName: text.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  accessCredentials: z
    .array(z.looseObject({ sshPublicKey: credential.optional(), userPassword: credential.optional() }))
    .optional(),
});
