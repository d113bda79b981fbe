import { usbRedirectionSocket } from '../../../api/launcher/paths.ts';
import type { Concern } from '../concern.ts';

/** KubeVirt's number of channels for USB devices of the user's machine. */
const CHANNELS = 4;

export const usbRedirection: Concern = (vmi) => {
  if (vmi.spec.domain.devices.clientPassthrough === undefined) return {};
  return {
    devices: {
      redirdev: Array.from({ length: CHANNELS }, (_, channel) => ({
        '@bus': 'usb',
        '@type': 'unix',
        source: { '@mode': 'bind', '@path': usbRedirectionSocket(channel) },
      })),
    },
  };
};
