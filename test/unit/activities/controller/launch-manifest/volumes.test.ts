import { describe, expect, test } from '@jest/globals';
import { ManifestError } from '../../../../../activities/controller/launch-manifest/index.ts';
import type { LaunchInput } from '../../../../../activities/controller/launch-manifest/index.ts';
import { instance, withDomain } from '../../../../support/instances.ts';
import { container, render, specOf } from './render.ts';

/** The Pod's volume and compute's mount and device of that name. */
const volume = (given: object, more: Partial<LaunchInput> = {}, name = 'data'): unknown => {
  const disks = [{ name: 'data', disk: {} }];
  const pod = render(withDomain({ devices: { disks } }, { volumes: [{ name: 'data', ...given }] }), more);
  const { volumeMounts = [], volumeDevices = [] } = container(pod, 'compute');
  return {
    volume: specOf(pod).volumes?.find((candidate) => candidate.name === name),
    mount: volumeMounts.find((candidate) => candidate.name === name),
    device: volumeDevices.find((candidate) => candidate.name === name),
  };
};

const claim = { claimName: 'c1' };
const block: Partial<LaunchInput> = { claims: { c1: { volumeMode: 'Block' } } };
const directory = { name: 'data', mountPath: '/var/run/kubevirt-private/vmi-disks/data' };
const secretDirectory = { name: 'data', mountPath: '/var/run/kubevirt-private/secret/data', readOnly: true };

describe('claims', () => {
  test.each<[string, object]>([
    ['a claim', { persistentVolumeClaim: claim }],
    ['a DataVolume', { dataVolume: { name: 'c1' } }],
    ['an ephemeral claim', { ephemeral: { persistentVolumeClaim: claim } }],
  ])('%s: a directory, or a device in block mode', (_, given) => {
    const expected = { name: 'data', persistentVolumeClaim: claim };
    expect(volume(given)).toEqual({ volume: expected, mount: directory, device: undefined });
    expect(volume(given, block)).toEqual({
      volume: expected,
      mount: undefined,
      device: { name: 'data', devicePath: '/dev/data' },
    });
  });

  test('read-only is passed on', () => {
    const readOnly = { ...claim, readOnly: true };
    expect(volume({ persistentVolumeClaim: readOnly })).toMatchObject({ volume: { persistentVolumeClaim: readOnly } });
  });

  test('what is plugged into the running guest is left to another Pod', () => {
    expect(volume({ persistentVolumeClaim: { ...claim, hotpluggable: true } })).toEqual({});
    const vmi = instance({ volumes: [{ name: 'data', persistentVolumeClaim: claim }] });
    vmi.status = { volumeStatus: [{ name: 'data', target: 'sda', hotplugVolume: {} }] };
    expect(specOf(render(vmi)).volumes?.map(({ name }) => name)).not.toContain('data');
  });
});

test.each([
  ['Disk', 'Directory'],
  ['DiskOrCreate', 'DirectoryOrCreate'],
])('hostDisk of type %s: the directory on the node, %s', (type, expected) => {
  expect(volume({ hostDisk: { path: '/srv/images/a.img', type } })).toMatchObject({
    volume: { hostPath: { path: '/srv/images', type: expected } },
    mount: directory,
  });
});

test.each<[string, object, object]>([
  ['a Secret', { secret: { secretName: 's', optional: true } }, { secret: { secretName: 's', optional: true } }],
  ['a ConfigMap', { configMap: { name: 'm' } }, { configMap: { name: 'm' } }],
  [
    'Pod fields',
    { downwardAPI: { fields: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  ],
  ['answer files', { sysprep: { secret: { name: 's' } } }, { secret: { secretName: 's' } }],
])('%s for a disk: mounted read-only', (_, given, expected) => {
  expect(volume(given)).toMatchObject({ volume: { name: 'data', ...expected }, mount: secretDirectory });
});

test('a Secret that no disk shows is not mounted', () => {
  const pod = render(instance({ volumes: [{ name: 'keys', secret: { secretName: 's' } }] }));
  expect(specOf(pod).volumes).toContainEqual({ name: 'keys', secret: { secretName: 's' } });
  expect(container(pod, 'compute').volumeMounts?.map(({ name }) => name)).not.toContain('keys');
});

test('cloud-init: a Secret each for user data and network data, none for inline data', () => {
  const given = { cloudInitNoCloud: { secretRef: { name: 'u' }, networkDataSecretRef: { name: 'n' } } };
  expect(volume(given, {}, 'data-udata')).toMatchObject({
    volume: { secret: { secretName: 'u' } },
    mount: { mountPath: '/var/run/kubevirt-private/secret/data-udata', readOnly: true },
  });
  expect(volume(given, {}, 'data-ndata')).toMatchObject({ volume: { secret: { secretName: 'n' } } });
  expect(volume({ cloudInitNoCloud: { userData: '#cloud-config' } })).toEqual({});
});

test('images and disks made on the spot need no volume', () => {
  expect(volume({ emptyDisk: { capacity: '1Gi' } })).toEqual({});
});

test('credentials for the guest are mounted', () => {
  const accessCredentials = [{ sshPublicKey: { source: { secret: { secretName: 'ops' } } } }];
  expect(specOf(render(instance({ accessCredentials }))).volumes).toContainEqual({
    name: 'ops-access-cred',
    secret: { secretName: 'ops' },
  });
});

test('what the node mounts later reaches the container', () => {
  const mounts = container(render(instance()), 'compute').volumeMounts ?? [];
  expect(mounts.filter(({ mountPropagation }) => mountPropagation !== undefined)).toEqual([
    {
      name: 'container-disks',
      mountPath: '/var/run/kubevirt/container-disks',
      mountPropagation: 'HostToContainer',
    },
  ]);
});

test('huge pages are mounted for a guest that lies in them', () => {
  const pod = render(withDomain({ memory: { guest: '1Gi', hugepages: { pageSize: '2Mi' } } }));
  expect(container(pod, 'compute').volumeMounts).toContainEqual({ name: 'hugepages', mountPath: '/dev/hugepages' });
});

test.each([
  ['spec.volumes[1].sysprep', { sysprep: {} }],
  ['spec.volumes[1].hostDisk.path', { hostDisk: { type: 'Disk' } }],
])('a volume that nothing can be mounted for is refused by %s', (field, given) => {
  const volumes = [
    { name: 'hot', persistentVolumeClaim: { ...claim, hotpluggable: true } },
    { name: 'x', ...given },
  ];
  const refused = (): unknown => render(instance({ volumes }));
  expect(refused).toThrow(ManifestError);
  expect(refused).toThrow(field);
});

test('what a guest keeps besides its disks lies in a claim of its own, without which there is no Pod', () => {
  const keeping = withDomain({ firmware: { bootloader: { efi: { persistent: true } } } });
  const claims = { 'persistent-state-for-web': { volumeMode: 'Filesystem' as const } };
  const { volumes = [], containers } = specOf(render(keeping, { claims }));
  expect(volumes).toContainEqual({
    ...{ name: 'vm-state', persistentVolumeClaim: { claimName: 'persistent-state-for-web' } },
  });
  expect(containers[0]?.volumeMounts).toContainEqual({
    ...{ name: 'vm-state', mountPath: '/var/run/kubevirt-private/vm-state' },
  });
  expect(() => render(keeping)).toThrow(/persistent-state-for-web/);
});
