import { expect, test } from '@jest/globals';
import { imageFiles } from '../../../../../activities/node/container-disks/images.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';

const vmi = (spec: object): VirtualMachineInstance => ({ spec: { domain: { devices: {} }, ...spec } });

test('each containerDisk is one file, by its path or by the default', () => {
  const volumes = [
    { name: 'root', containerDisk: { image: 'a', path: '/images/a.qcow2' } },
    { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
    { name: 'data', containerDisk: { image: 'b' } },
  ];
  expect(imageFiles(vmi({ volumes }))).toEqual([
    {
      volume: 'root',
      image: 'a',
      path: '/images/a.qcow2',
      target: 'root.img',
      field: 'spec.volumes[0].containerDisk',
      kind: 'disk',
    },
    { volume: 'data', image: 'b', target: 'data.img', field: 'spec.volumes[2].containerDisk', kind: 'disk' },
  ]);
});

test('kernel and initrd come from the boot image, each only when named', () => {
  const boot = (container: object): object => ({ domain: { devices: {}, firmware: { kernelBoot: { container } } } });
  const files = imageFiles(vmi(boot({ image: 'k', kernelPath: '/boot/vmlinuz', initrdPath: '/boot/initrd' })));
  expect(files.map(({ path, target, kind, field }) => [path, target, kind, field])).toEqual([
    ['/boot/vmlinuz', 'kernel', 'boot', 'spec.domain.firmware.kernelBoot.container.kernelPath'],
    ['/boot/initrd', 'initrd', 'boot', 'spec.domain.firmware.kernelBoot.container.initrdPath'],
  ]);
  expect(imageFiles(vmi(boot({ image: 'k', kernelPath: '/boot/vmlinuz' })))).toHaveLength(1);
  expect(imageFiles(vmi({}))).toEqual([]);
});
