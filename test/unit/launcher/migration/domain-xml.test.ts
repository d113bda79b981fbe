import { expect, test } from '@jest/globals';
import { cloudInitImage, emptyDiskImage, overlayImage, volumeDirectory } from '../../../../api/launcher/paths.ts';
import { forHost, localDisks, markOf, withMark } from '../../../../launcher/migration/domain-xml.ts';

const uid = '6d1f8f5e-3c2b-4d55-9a40-6f0f2b3c4d5e';

test('the mark of a migration goes into the metadata, is read back, and replaces an earlier one', () => {
  const bare = "<domain type='qemu' id='1'><name>x</name></domain>";
  const marked = withMark(bare, { uid, guestPaused: true });
  expect(markOf(marked)).toEqual({ uid, guestPaused: true });
  const later = withMark(marked, { uid: 'later', guestPaused: false });
  expect(markOf(later)).toEqual({ uid: 'later', guestPaused: false });
  expect(later.match(/virtflow:migration /g)).toHaveLength(1);
  expect(markOf(bare)).toBeUndefined();
});

test("other metadata stays, and libvirt's own way to write the mark is understood", () => {
  const other = '<metadata><kubevirt xmlns="http://kubevirt.io"><uid>u</uid></kubevirt></metadata>';
  expect(withMark(`<domain>${other}</domain>`, { uid, guestPaused: false })).toContain('<uid>u</uid>');
  const libvirts = `<metadata>\n    <virtflow:migration xmlns:virtflow="http://virtflow.io/migration" uid="${uid}" guest="running"/>\n  </metadata>`;
  expect(markOf(libvirts)).toEqual({ uid, guestPaused: false });
});

const disk = (file: string, target: string, volume: string, more = ''): string =>
  `<disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='${file}' index='3'/>
      <backingStore type='file'><source file='/elsewhere'/></backingStore>
      <target dev='${target}' bus='virtio'/>${more}
      <alias name='ua-${volume}'/>
    </disk>`;

test('writable images in the Pod are copied; claims and read-only images are not', () => {
  const xml = [
    disk(overlayImage('root'), 'vda', 'root'),
    disk(emptyDiskImage('scratch'), 'vdb', 'scratch'),
    disk(`${volumeDirectory('claim')}/disk.img`, 'vdc', 'claim'),
    disk(cloudInitImage('seed'), 'vdd', 'seed'),
    disk(cloudInitImage('cdrom'), 'sda', 'cdrom', '<readonly/>'),
    "<disk type='block' device='disk'><source dev='/dev/claim'/><target dev='vde' bus='virtio'/></disk>",
  ].join('\n');
  expect(localDisks(xml).map(({ volume, target }) => [volume, target])).toEqual([
    ['root', 'vda'],
    ['scratch', 'vdb'],
    ['seed', 'vdd'],
  ]);
});

test("pinned CPUs become the target's of the same rank", () => {
  const xml =
    "<cputune><vcpupin vcpu='0' cpuset='4'/><vcpupin vcpu='1' cpuset='6'/><emulatorpin cpuset='4-5'/></cputune>";
  expect(forHost(xml, [12, 10, 11])).toBe(
    "<cputune><vcpupin vcpu='0' cpuset='10'/><vcpupin vcpu='1' cpuset='12'/><emulatorpin cpuset='10,11'/></cputune>",
  );
  expect(() => forHost(xml, [1, 2])).toThrow('pinned to 3 CPUs');
  expect(forHost('<domain/>', [])).toBe('<domain/>');
});
