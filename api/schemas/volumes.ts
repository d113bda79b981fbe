import { z } from 'zod';
import { flag, present, quantity, text } from './primitives.ts';

const name = z.looseObject({ name: text.optional() });

const cloudInit = z.looseObject({
  userData: text.optional(),
  userDataBase64: text.optional(),
  secretRef: name.optional(),
  networkData: text.optional(),
  networkDataBase64: text.optional(),
  networkDataSecretRef: name.optional(),
});

const claim = z.looseObject({ claimName: text, readOnly: flag.optional(), hotpluggable: flag.optional() });

const volume = z.looseObject({
  name: text,
  containerDisk: z
    .looseObject({
      image: text.optional(),
      path: text.optional(),
      imagePullPolicy: text.optional(),
      imagePullSecret: text.optional(),
    })
    .optional(),
  persistentVolumeClaim: claim.optional(),
  dataVolume: z.looseObject({ name: text.optional(), hotpluggable: flag.optional() }).optional(),
  ephemeral: z.looseObject({ persistentVolumeClaim: claim.optional() }).optional(),
  emptyDisk: z.looseObject({ capacity: quantity }).optional(),
  hostDisk: z
    .looseObject({
      path: text.optional(),
      type: text.optional(),
      capacity: quantity.optional(),
      shared: flag.optional(),
    })
    .optional(),
  cloudInitNoCloud: cloudInit.optional(),
  cloudInitConfigDrive: cloudInit.optional(),
  configMap: z.looseObject({ name: text.optional(), optional: flag.optional() }).optional(),
  secret: z.looseObject({ secretName: text.optional(), optional: flag.optional() }).optional(),
  serviceAccount: z.looseObject({ serviceAccountName: text.optional() }).optional(),
  downwardAPI: z.looseObject({ fields: z.array(present).optional() }).optional(),
  downwardMetrics: present.optional(),
  sysprep: z.looseObject({ secret: name.optional(), configMap: name.optional() }).optional(),
  memoryDump: present.optional(),
  containerPath: z.looseObject({ path: text }).optional(),
});

export const volumes = z.array(volume);
