import type { Concern } from '../concern.ts';

/** The guest agent's channel is always there; libvirt places its socket and answers agent commands through it. */
export const channels: Concern = () => ({
  devices: { channel: [{ '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } }] },
});
