import { DOWNWARD_METRICS_SOCKET } from '../../../api/launcher/paths.ts';
import type { Concern } from '../concern.ts';
import type { Channel } from '../domain.ts';

/** The guest agent's channel is always there; libvirt places its socket and answers agent commands through it. Metrics of the host come on request. */
export const channels: Concern = (vmi) => ({
  devices: {
    channel: [
      { '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } },
      ...(vmi.spec.domain.devices.downwardMetrics === undefined ? [] : [metrics]),
    ],
  },
});

const metrics: Channel = {
  '@type': 'unix',
  source: { '@mode': 'bind', '@path': DOWNWARD_METRICS_SOCKET },
  target: { '@type': 'virtio', '@name': 'org.github.vhostmd.1' },
};
