import type { HostFacts } from '../../../api/launcher/host-facts.ts';
import { VNC_SOCKET } from '../../../api/launcher/paths.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { attached, type Concern } from '../concern.ts';
import type { Video } from '../domain.ts';
import { bootsEfi } from './firmware.ts';

const HEADS = 1;
const VIDEO_RAM_KIB = 16_384;

/** Asked for, else what the guest's firmware can draw on. */
function video(vmi: VirtualMachineInstance, host: HostFacts): Video {
  const asked = vmi.spec.domain.devices.video;
  if (asked) return { model: { '@type': asked.type, '@heads': HEADS, '@vram': VIDEO_RAM_KIB } };
  if ((vmi.spec.architecture ?? 'amd64') !== 'amd64') return { model: { '@type': 'virtio', '@heads': HEADS } };
  if (bootsEfi(vmi) && host.bochsForEFIGuests) return { model: { '@type': 'bochs', '@heads': HEADS } };
  return { model: { '@type': 'vga', '@heads': HEADS, '@vram': VIDEO_RAM_KIB } };
}

/** A display and its VNC server on a unix socket, unless the VMI wants none. */
export const graphics: Concern = (vmi, host) =>
  attached(vmi.spec.domain.devices.autoattachGraphicsDevice)
    ? {
        devices: {
          video: [video(vmi, host)],
          graphics: [{ '@type': 'vnc', listen: { '@type': 'socket', '@socket': VNC_SOCKET } }],
        },
      }
    : {};
