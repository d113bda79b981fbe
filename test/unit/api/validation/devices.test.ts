import { expect, test } from '@jest/globals';
import { deviceRules } from '../../../../api/validation/devices.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const DEVICES = 'spec.domain.devices';
const display = { virtualGPUOptions: { display: {} } };
const dark = { virtualGPUOptions: { display: { ramFB: { enabled: false } } } };

test.each<[string, object, string[]]>([
  ['a tablet', { inputs: [{ name: 'a', type: 'tablet', bus: 'usb' }] }, []],
  [
    'a keyboard by PS/2',
    { inputs: [{ name: 'a', type: 'keyboard', bus: 'ps2' }] },
    [`Invalid ${DEVICES}.inputs[0].bus`, `Invalid ${DEVICES}.inputs[0].type`],
  ],
  [
    'one framebuffer',
    {
      gpus: [
        { name: 'a', ...display },
        { name: 'b', ...dark },
      ],
    },
    [],
  ],
  [
    'two framebuffers',
    {
      gpus: [
        { name: 'a', ...display },
        { name: 'b', ...display },
      ],
    },
    ['Invalid spec.GPUs'],
  ],
  ['video without graphics', { video: { type: 'vga' }, autoattachGraphicsDevice: false }, ['Invalid spec.video']],
  ['sound', { sound: { name: 'a', model: 'ac97' } }, []],
  ['sound of no name', { sound: { model: 'ac97' } }, ['Invalid spec.Sound']],
  ['sound of an unknown model', { sound: { name: 'a', model: 'es1370' } }, ['Invalid spec.Sound']],
  ['an unknown panic device', { panicDevices: [{}, { model: 'loud' }] }, [`Invalid ${DEVICES}.panicDevices[1].model`]],
])('%s', (_, devices, expected) => {
  expect(ofDomain(deviceRules, { devices })).toEqual(expected);
});

test('s390x has its own panic device', () => {
  expect(ofDomain(deviceRules, { devices: { panicDevices: [{}] } }, { architecture: 's390x' })).toEqual([
    `Invalid ${DEVICES}.panicDevices`,
  ]);
});

test.each<[string, object, string, string]>([
  ['host devices', { devices: { hostDevices: [{ name: 'a', deviceName: 'v/d' }] } }, 'spec.HostDevices', 'HostDevices'],
  ['a socket to the host', { devices: { autoattachVSOCK: true } }, `${DEVICES}.autoattachVSOCK`, 'VSOCK'],
  ['metrics of the host', { devices: { downwardMetrics: {} } }, `${DEVICES}.downwardMetrics`, 'DownwardMetrics'],
  [
    'a file system on a claim',
    { devices: { filesystems: [{ name: 'data', virtiofs: {} }] } },
    `${DEVICES}.filesystems`,
    'EnableVirtioFsStorageVolumes',
  ],
  [
    'a reservation',
    { devices: { disks: [{ name: 'a', lun: { reservation: true } }] } },
    `${DEVICES}.disks.luns.reservation`,
    'PersistentReservation',
  ],
])('%s: behind a gate', (_, domain, field, gate) => {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  expect(ofDomain(deviceRules, domain, { volumes })).toEqual([`Invalid ${field}`]);
  expect(ofDomain(deviceRules, domain, { volumes }, gated([gate]))).toEqual([]);
});

test('a reboot policy is refused where its gate is off', () => {
  expect(ofDomain(deviceRules, { rebootPolicy: 'Reboot' })).toEqual([]);
  expect(ofDomain(deviceRules, { rebootPolicy: 'Reboot' }, {}, gated([], ['RebootPolicy']))).toEqual([
    'Invalid spec.domain.rebootPolicy',
  ]);
});
