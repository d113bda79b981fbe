import { z } from 'zod';
import { devices } from './devices.ts';
import { flag, metadata, present, quantity, text, texts, whole } from './primitives.ts';

/** What virtflow reads of an instance type; what of it goes into a VMI unread is the VMI's own schema's to judge. */
export const instancetype = z.looseObject({
  metadata: metadata.optional(),
  spec: z.looseObject({
    annotations: texts.optional(),
    nodeSelector: texts.optional(),
    schedulerName: text.optional(),
    ioThreadsPolicy: text.optional(),
    ioThreads: z.looseObject({ supplementalPoolThreadCount: whole.optional() }).optional(),
    launchSecurity: present.optional(),
    gpus: devices.shape.gpus,
    hostDevices: devices.shape.hostDevices,
    cpu: z.looseObject({
      guest: whole,
      model: text.optional(),
      dedicatedCPUPlacement: flag.optional(),
      isolateEmulatorThread: flag.optional(),
      numa: present.optional(),
      realtime: present.optional(),
      maxSockets: whole.optional(),
    }),
    memory: z.looseObject({
      guest: quantity,
      maxGuest: quantity.optional(),
      hugepages: z.looseObject({ pageSize: text.optional() }).optional(),
      overcommitPercent: whole.optional(),
    }),
  }),
});

const devicePreferences = z.looseObject({
  preferredAutoattachGraphicsDevice: flag.optional(),
  preferredAutoattachInputDevice: flag.optional(),
  preferredAutoattachMemBalloon: flag.optional(),
  preferredAutoattachPodInterface: flag.optional(),
  preferredAutoattachSerialConsole: flag.optional(),
  preferredBlockMultiQueue: flag.optional(),
  preferredCdromBus: text.optional(),
  preferredDisableHotplug: flag.optional(),
  preferredDiskBlockSize: present.optional(),
  preferredDiskBus: text.optional(),
  preferredDiskCache: text.optional(),
  preferredDiskDedicatedIoThread: flag.optional(),
  preferredDiskIO: text.optional(),
  preferredInputBus: text.optional(),
  preferredInputType: text.optional(),
  preferredInterfaceMasquerade: present.optional(),
  preferredInterfaceModel: text.optional(),
  preferredLunBus: text.optional(),
  preferredNetworkInterfaceMultiQueue: flag.optional(),
  preferredPanicDeviceModel: text.optional(),
  preferredRng: present.optional(),
  preferredSoundModel: text.optional(),
  preferredTPM: present.optional(),
  preferredUseVirtioTransitional: flag.optional(),
  preferredVideoType: text.optional(),
});

/** What virtflow reads of a preference. */
export const preference = z.looseObject({
  metadata: metadata.optional(),
  spec: z.looseObject({
    annotations: texts.optional(),
    clock: z.looseObject({ preferredClockOffset: present.optional(), preferredTimer: present.optional() }).optional(),
    cpu: z
      .looseObject({
        preferredCPUTopology: text.optional(),
        preferredCPUFeatures: z.array(z.looseObject({ name: text, policy: text.optional() })).optional(),
        spreadOptions: z.looseObject({ across: text.optional(), ratio: whole.optional() }).optional(),
      })
      .optional(),
    devices: devicePreferences.optional(),
    features: z
      .looseObject({
        preferredAcpi: present.optional(),
        preferredApic: present.optional(),
        preferredHyperv: present.optional(),
        preferredKvm: present.optional(),
        preferredPvspinlock: present.optional(),
        preferredSmm: present.optional(),
      })
      .optional(),
    firmware: z
      .looseObject({
        preferredEfi: z.looseObject({ secureBoot: flag.optional(), persistent: flag.optional() }).optional(),
        preferredUseBios: flag.optional(),
        preferredUseBiosSerial: flag.optional(),
        preferredUseEfi: flag.optional(),
        preferredUseSecureBoot: flag.optional(),
      })
      .optional(),
    machine: z.looseObject({ preferredMachineType: text.optional() }).optional(),
    preferSpreadSocketToCoreRatio: whole.optional(),
    preferredArchitecture: text.optional(),
    preferredLaunchSecurity: present.optional(),
    preferredSubdomain: text.optional(),
    preferredTerminationGracePeriodSeconds: whole.optional(),
    requirements: z
      .looseObject({
        architecture: text.optional(),
        cpu: z.looseObject({ guest: whole }).optional(),
        memory: z.looseObject({ guest: quantity }).optional(),
      })
      .optional(),
    volumes: z.looseObject({ preferredStorageClassName: text.optional() }).optional(),
  }),
});
