import { FAST_BOOT } from './test-guest.ts';
import type { GuestFiles } from './test-guest.ts';

/** Domain XML of the test guest, without KVM: what the libvirt client's tests need, and no more. */
export function testDomainXml(name: string, uuid: string, guest: GuestFiles, extraArguments = ''): string {
  return `<domain type='qemu'>
  <name>${name}</name><uuid>${uuid}</uuid>
  <memory unit='MiB'>160</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type>
    <kernel>${guest.kernel}</kernel><initrd>${guest.initrd}</initrd><cmdline>${FAST_BOOT} ${extraArguments}</cmdline></os>
  <features><acpi/></features>
  <cpu mode='custom' match='exact' check='none'><model fallback='forbid'>qemu64</model></cpu>
  <on_poweroff>destroy</on_poweroff><on_reboot>restart</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <controller type='virtio-serial' index='0'/>
    <serial type='pty'><target port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
    <memballoon model='virtio'><stats period='5'/></memballoon>
    <video><model type='none'/></video>
  </devices>
</domain>`;
}
