import { expect, test } from '@jest/globals';
import { hardwareOf, selinuxContext } from '../../../../launcher/domain-manager/hardware.ts';

/** As libvirt writes the XML of a running domain. */
const XML = `<domain type='kvm' id='1'>
  <memory unit='KiB'>262144</memory>
  <currentMemory unit='KiB'>131072</currentMemory>
  <os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os>
  <devices>
    <disk type='file' device='disk'>
      <source file='/var/run/kubevirt-private/vmi-disks/root/disk.img' index='2'/>
      <target dev='vda' bus='virtio'/>
      <alias name='ua-root'/>
    </disk>
    <disk type='file' device='cdrom'>
      <source file='/seed.iso' index='1'/>
      <target dev='sda' bus='sata'/>
      <alias name='ua-seed'/>
    </disk>
    <disk type='file' device='cdrom'><target dev='sdb' bus='sata'/><alias name='sata0-0-1'/></disk>
    <interface type='ethernet'>
      <mac address='02:00:00:00:00:01'/>
      <target dev='tap0' managed='no'/>
      <driver name='vhost' queues='2'/>
      <link state='down'/>
      <alias name='ua-default'/>
    </interface>
    <interface type='ethernet'><mac address='02:00:00:00:00:02'/><alias name='ua-red'/></interface>
  </devices>
</domain>`;

test('the machine, the memory and the disks as libvirt has them; a disk that is not of the spec is left out', () => {
  const sizes: Record<string, number> = { '/seed.iso': 374784 };
  expect(hardwareOf(XML, (path) => sizes[path])).toEqual({
    machine: 'pc-q35-7.2',
    memoryBytes: 128 * 2 ** 20,
    disks: { root: { target: 'vda' }, seed: { target: 'sda', size: 374784 } },
    interfaces: {
      default: { mac: '02:00:00:00:00:01', queues: 2, link: 'down' },
      red: { mac: '02:00:00:00:00:02' },
    },
  });
});

test('images of the user have no size here: they grow', () => {
  expect(hardwareOf(XML).disks).toEqual({ root: { target: 'vda' }, seed: { target: 'sda' } });
});

test.each([
  ['SELinux', 'system_u:system_r:container_t:s0:c1,c2\0', 'system_u:system_r:container_t:s0:c1,c2'],
  ['AppArmor', 'cri-containerd.apparmor.d (enforce)\n', 'none'],
  ['nobody', '', 'none'],
])('the context as %s gives it', (_, answer, context) => {
  expect(selinuxContext(() => answer)).toBe(context);
});

test('a kernel that does not answer has no context', () => {
  const silent = (): never => {
    throw new Error('EINVAL');
  };
  expect(selinuxContext(silent)).toBe('none');
});
