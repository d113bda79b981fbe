import { expect, test } from '@jest/globals';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { refuseUnsupported, unsupportedFeatures } from '../../../../launcher/converter/unsupported.ts';
import { host, vmi, withDevices } from './examples.ts';

test.each`
  feature                 | instance
  ${'network binding'}    | ${withDevices({ interfaces: [{ name: 'a', sriov: {} }] })}
  ${'GPU'}                | ${withDevices({ gpus: [{ name: 'g', deviceName: 'x' }] })}
  ${'host device'}        | ${withDevices({ hostDevices: [{ name: 'h', deviceName: 'x' }] })}
  ${'virtiofs'}           | ${withDevices({ filesystems: [{ name: 'f', virtiofs: {} }] })}
  ${'vsock'}              | ${withDevices({ autoattachVSOCK: true })}
  ${'downward metrics'}   | ${withDevices({ downwardMetrics: {} })}
  ${'launch security'}    | ${vmi({ domain: { launchSecurity: {} } })}
  ${'realtime'}           | ${vmi({ domain: { cpu: { realtime: {} } } })}
  ${'hot-plugged volume'} | ${vmi({ spec: { volumes: [{ name: 'v', dataVolume: { name: 'x', hotpluggable: true } }] } })}
  ${'memory dump'}        | ${vmi({ spec: { volumes: [{ name: 'v', memoryDump: { claimName: 'x' } }] } })}
  ${'block size'}         | ${withDevices({ disks: [{ name: 'd', blockSize: { matchVolume: {} } }] })}
  ${'SCSI reservation'}   | ${withDevices({ disks: [{ name: 'd', lun: { reservation: true } }] })}
  ${'Ignition'}           | ${vmi({ metadata: { annotations: { 'kubevirt.io/ignitiondata': '{}' } } })}
  ${'block tracking'}     | ${vmi({ status: { changedBlockTracking: { state: 'Enabled' } } })}
`('a VMI with $feature is refused', ({ feature, instance }) => {
  expect(() => toDomain(instance as ReturnType<typeof vmi>, host())).toThrow(feature);
});

test('the refusal names all that is missing at once', () => {
  const instance = withDevices({ autoattachVSOCK: true, filesystems: [{ name: 'f', virtiofs: {} }] });
  expect(() => refuseUnsupported(instance)).toThrow(/virtiofs, vsock/);
});

test('an ordinary VMI asks for nothing of it', () => {
  expect(
    unsupportedFeatures(
      withDevices({
        interfaces: [
          { name: 'a', masquerade: {} },
          { name: 'b', bridge: {} },
        ],
      }),
    ),
  ).toEqual([]);
});
