import { z } from 'zod';
import { disk } from './devices.ts';
import { metadata, present, text } from './primitives.ts';

const storage = z.looseObject({
  accessModes: z.array(text).optional(),
  volumeMode: text.optional(),
  dataSource: present.optional(),
  dataSourceRef: present.optional(),
});

/** DataVolumes that a VM makes. */
export const dataVolumeTemplates = z.array(
  z.looseObject({
    metadata: metadata.optional(),
    spec: z.looseObject({
      pvc: storage.optional(),
      storage: storage.optional(),
      source: z.record(text, present).optional(),
      sourceRef: present.optional(),
    }),
  }),
);

/** Volumes to plug and unplug. */
export const volumeRequests = z.array(
  z.looseObject({
    addVolumeOptions: z
      .looseObject({
        name: text,
        disk: disk.partial({ name: true }).optional(),
        volumeSource: z
          .looseObject({
            persistentVolumeClaim: z.looseObject({ claimName: text }).optional(),
            dataVolume: z.looseObject({ name: text }).optional(),
          })
          .default({}),
      })
      .optional(),
    removeVolumeOptions: z.looseObject({ name: text }).optional(),
  }),
);
