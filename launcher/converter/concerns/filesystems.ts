import { virtiofsSocket } from '../../../api/launcher/paths.ts';
import type { Concern } from '../concern.ts';

/** Directories that the guest shares with its Pod; a container beside the launcher serves each over a socket. */
export const filesystems: Concern = (vmi) => {
  const shared = vmi.spec.domain.devices.filesystems ?? [];
  if (shared.length === 0) return {};
  return {
    devices: {
      filesystem: shared.map(({ name }) => ({
        '@type': 'mount',
        '@accessMode': 'passthrough',
        source: { '@dir': '', '@socket': virtiofsSocket(name) },
        target: { '@dir': name },
        driver: { '@type': 'virtiofs', '@queue': 1024 },
      })),
    },
  };
};
