import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deviceName, deviceNames } from '../../../../launcher/converter/device-names.ts';

test.each([
  [0, 'vda'],
  [25, 'vdz'],
  [26, 'vdaa'],
  [701, 'vdzz'],
  [702, 'vdaaa'],
])('disk %i is %s', (index, name) => {
  expect(deviceName('vd', index)).toBe(name);
});

const disk = (name: string, bus: string) => ({ name, disk: { bus } });
const names = (...args: Parameters<typeof deviceNames>) =>
  [...deviceNames(...args)].map(([name, device]) => `${name}=${device.name}`);

test('each prefix counts for itself; SATA, SCSI and USB share one', () => {
  const disks = [disk('a', 'virtio'), disk('b', 'sata'), disk('c', 'virtio'), disk('d', 'scsi'), disk('e', 'usb')];
  expect(names(disks, {})).toEqual(['a=vda', 'b=sda', 'c=vdb', 'd=sdb', 'e=sdc']);
});

test('a disk keeps the name that the guest knows it by', () => {
  const disks = [disk('a', 'virtio'), disk('b', 'virtio'), disk('c', 'virtio')];
  expect(names(disks, { b: 'vda', gone: 'vdb', c: '' })).toEqual(['a=vdb', 'b=vda', 'c=vdc']);
});

test('the index of a known name is its place under the prefix', () => {
  expect(deviceNames([disk('a', 'scsi')], { a: 'sdab' }).get('a')?.index).toBe(27);
});

test('a bus that no disk sits on is refused', () => {
  expect(() => deviceNames([disk('a', 'ide')], {})).toThrow(/disks\[a\]\.bus: "ide"/);
});

test('no two disks share a name', () => {
  const buses = fc.array(fc.constantFrom('virtio', 'sata', 'scsi'), { maxLength: 60 });
  fc.assert(
    fc.property(buses, fc.integer({ min: 0, max: 40 }), (list, known) => {
      const disks = list.map((bus, index) => disk(`d${index}`, bus));
      const all = [...deviceNames(disks, { d0: deviceName(list[0] === 'virtio' ? 'vd' : 'sd', known) }).values()];
      expect(new Set(all.map(({ name }) => name)).size).toBe(disks.length);
    }),
  );
});
