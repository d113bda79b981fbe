import { expect, test } from '@jest/globals';
import { toDomain, toDomainXml } from '../../../../launcher/converter/index.ts';
import { unknownFeatures, unsupportedFeatures } from '../../../../launcher/converter/unsupported.ts';
import { host, vmi, withDevices, withDisks } from './examples.ts';

const network = { spec: { networks: [{ name: 'a', pod: {} }] } };
const plugged = [{ name: 'v', dataVolume: { name: 'x', hotpluggable: true } }];

test.each`
  feature               | instance
  ${'GPU'}              | ${withDevices({ gpus: [{ name: 'g', deviceName: 'x' }] })}
  ${'host device'}      | ${withDevices({ hostDevices: [{ name: 'h', deviceName: 'x' }] })}
  ${'launch security'}  | ${vmi({ domain: { launchSecurity: { sev: {} } } })}
  ${'realtime'}         | ${vmi({ domain: { cpu: { realtime: {} } } })}
  ${'memory dump'}      | ${vmi({ spec: { volumes: [{ name: 'v', memoryDump: { claimName: 'x' } }] } })}
  ${'block size'}       | ${withDevices({ disks: [{ name: 'd', blockSize: { matchVolume: {} } }] })}
  ${'SCSI reservation'} | ${withDevices({ disks: [{ name: 'd', lun: { reservation: true } }] })}
  ${'Ignition'}         | ${vmi({ metadata: { annotations: { 'kubevirt.io/ignitiondata': '{}' } } })}
  ${'block tracking'}   | ${vmi({ status: { changedBlockTracking: { state: 'Enabled' } } })}
`('a VMI with $feature is not rendered', ({ feature, instance }) => {
  expect(() => toDomain(instance as ReturnType<typeof vmi>, host())).toThrow(feature);
});

test.each`
  feature                 | instance
  ${'network binding'}    | ${withDevices({ interfaces: [{ name: 'a', sriov: {} }] }, network)}
  ${'virtiofs'}           | ${withDevices({ filesystems: [{ name: 'f', virtiofs: {} }] })}
  ${'vsock'}              | ${withDevices({ autoattachVSOCK: true })}
  ${'downward metrics'}   | ${withDevices({ downwardMetrics: {} })}
  ${'hot-plugged volume'} | ${withDisks([{ name: 'v', disk: { bus: 'scsi' } }], plugged)}
  ${'secure execution'}   | ${vmi({ spec: { architecture: 's390x' }, domain: { launchSecurity: {} } })}
`('a VMI with $feature is rendered, and no launcher starts it', ({ feature, instance }) => {
  expect(() => toDomain(instance as ReturnType<typeof vmi>, host())).not.toThrow();
  expect(() => toDomainXml(instance as ReturnType<typeof vmi>, host())).toThrow(feature);
});

test('the refusal names all that is missing at once', () => {
  const instance = withDevices({ autoattachVSOCK: true, filesystems: [{ name: 'f', virtiofs: {} }] });
  expect(() => toDomainXml(instance, host())).toThrow(/virtiofs, vsock/);
});

test('an ordinary VMI asks for nothing of it', () => {
  const interfaces = [
    { name: 'a', masquerade: {} },
    { name: 'b', bridge: {} },
  ];
  const instance = withDevices({ interfaces, tpm: {} });
  expect([unknownFeatures(instance), unsupportedFeatures(instance)]).toEqual([[], []]);
});
