import { z } from 'zod';
import { flag, present, text, whole } from './primitives.ts';

const feature = z.looseObject({ enabled: flag.optional() });

export const disk = z.looseObject({
  name: text,
  disk: z.looseObject({ bus: text.optional(), readonly: flag.optional(), pciAddress: text.optional() }).optional(),
  cdrom: z.looseObject({ bus: text.optional(), readonly: flag.optional(), tray: text.optional() }).optional(),
  lun: z.looseObject({ bus: text.optional(), reservation: flag.optional() }).optional(),
  bootOrder: whole.optional(),
  cache: text.optional(),
  io: text.optional(),
  errorPolicy: text.optional(),
  serial: text.optional(),
  shareable: flag.optional(),
  dedicatedIOThread: flag.optional(),
  blockSize: z
    .looseObject({
      matchVolume: feature.optional(),
      custom: z
        .looseObject({
          logical: whole.optional(),
          physical: whole.optional(),
          discardGranularity: whole.optional(),
        })
        .optional(),
    })
    .optional(),
});

const networkInterface = z.looseObject({
  name: text,
  model: text.optional(),
  macAddress: text.optional(),
  state: text.optional(),
  pciAddress: text.optional(),
  bootOrder: whole.optional(),
  dhcpOptions: z
    .looseObject({
      ntpServers: z.array(text).optional(),
      privateOptions: z.array(z.looseObject({ option: whole, value: text.optional() })).optional(),
    })
    .optional(),
  portRanges: z.array(z.looseObject({ start: whole, end: whole, protocol: text.optional() })).optional(),
  ports: z.array(z.looseObject({ name: text.optional(), protocol: text.optional(), port: whole })).optional(),
  bridge: present.optional(),
  masquerade: present.optional(),
  slirp: present.optional(),
  sriov: present.optional(),
  macvtap: present.optional(),
  passt: present.optional(),
  passtBinding: present.optional(),
  binding: z.looseObject({ name: text }).optional(),
});

const hostDevice = z.looseObject({
  name: text,
  deviceName: text.optional(),
  claimName: text.optional(),
  requestName: text.optional(),
  virtualGPUOptions: z.looseObject({ display: feature.extend({ ramFB: feature.optional() }).optional() }).optional(),
});

export const devices = z.looseObject({
  disks: z.array(disk).optional(),
  interfaces: z.array(networkInterface).optional(),
  filesystems: z.array(z.looseObject({ name: text, virtiofs: present.optional() })).optional(),
  inputs: z.array(z.looseObject({ name: text, bus: text.optional(), type: text.optional() })).optional(),
  gpus: z.array(hostDevice).optional(),
  hostDevices: z.array(hostDevice).optional(),
  autoattachGraphicsDevice: flag.optional(),
  autoattachInputDevice: flag.optional(),
  autoattachMemBalloon: flag.optional(),
  autoattachPodInterface: flag.optional(),
  autoattachSerialConsole: flag.optional(),
  autoattachVSOCK: flag.optional(),
  logSerialConsole: flag.optional(),
  blockMultiQueue: flag.optional(),
  networkInterfaceMultiqueue: flag.optional(),
  disableHotplug: flag.optional(),
  rng: present.optional(),
  watchdog: z
    .looseObject({
      name: text,
      i6300esb: z.looseObject({ action: text.optional() }).optional(),
      diag288: z.looseObject({ action: text.optional() }).optional(),
    })
    .optional(),
  tpm: z.looseObject({ enabled: flag.optional(), persistent: flag.optional() }).optional(),
  sound: z.looseObject({ name: text.optional(), model: text.optional() }).optional(),
  video: z.looseObject({ type: text.optional() }).optional(),
  clientPassthrough: present.optional(),
  downwardMetrics: present.optional(),
  panicDevices: z.array(z.looseObject({ model: text.optional() })).optional(),
});

export const networks = z.array(
  z.looseObject({
    name: text,
    pod: z.looseObject({ vmNetworkCIDR: text.optional() }).optional(),
    multus: z.looseObject({ networkName: text, default: flag.optional() }).optional(),
    resourceClaim: z.looseObject({ claimName: text.optional(), requestName: text.optional() }).optional(),
  }),
);
