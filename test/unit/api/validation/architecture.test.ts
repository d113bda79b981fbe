import { expect, test } from '@jest/globals';
import { architectureRules } from '../../../../api/validation/architecture.ts';
import { ofDomain } from './told.ts';

const DEVICES = 'NotSupported spec.domain.devices';

test.each<[string, object, string[]]>([
  ['amd64', { devices: { watchdog: { i6300esb: {} }, video: { type: 'bochs' } } }, []],
  ['amd64', { devices: { watchdog: { diag288: {} } } }, [`${DEVICES}.watchdog`]],
  ['amd64', { devices: { watchdog: { i6300esb: {}, diag288: {} } } }, [`${DEVICES}.watchdog`]],
  ['amd64', { devices: { video: { type: 'qxl' } } }, [`${DEVICES}.video.type`]],
  ['amd64', { devices: { video: {} } }, [`${DEVICES}.video.type`]],
  ['s390x', { devices: { watchdog: { diag288: {} }, video: { type: 'virtio' } } }, []],
  ['s390x', { devices: { watchdog: { i6300esb: {} } } }, [`${DEVICES}.watchdog`]],
  ['s390x', { devices: { video: { type: 'vga' } } }, [`${DEVICES}.video.type`]],
  ['arm64', { cpu: { model: 'host-passthrough' }, devices: { disks: [{ name: 'a', disk: { bus: 'scsi' } }] } }, []],
  ['arm64', { cpu: { model: 'EPYC' } }, ['NotSupported spec.domain.cpu.model']],
  ['arm64', { firmware: { bootloader: { bios: {} } } }, ['NotSupported spec.domain.firmware.bootloader.bios']],
  [
    'arm64',
    { devices: { disks: [{ name: 'a' }, { name: 'b', cdrom: { bus: 'sata' } }] } },
    [`${DEVICES}.disks[1].cdrom.bus`],
  ],
  ['arm64', { devices: { watchdog: {}, sound: { name: 'a' } } }, [`${DEVICES}.watchdog`, `${DEVICES}.sound`]],
  ['riscv64', {}, ['Invalid spec.architecture']],
  ['', {}, ['Invalid spec.architecture']],
])('%s with %j', (architecture, domain, expected) => {
  expect(ofDomain(architectureRules, domain, { architecture })).toEqual(expected);
});
