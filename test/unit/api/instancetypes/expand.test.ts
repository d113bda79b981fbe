import { expect, test } from '@jest/globals';
import { expanded, instanceWithTypes } from '../../../../api/instancetypes/index.ts';
import { toInstance } from '../../../../api/virtual-machine/index.ts';
import { configured } from '../../../support/instances.ts';
import { instancetype, preference, vm } from './samples.ts';

const VOLUMES = [{ name: 'root', containerDisk: { image: 'a@sha256:1' } }];

test('disks and interfaces that come by themselves are as preferred', () => {
  const preferred = preference({
    devices: {
      preferredDiskBus: 'sata',
      preferredInterfaceModel: 'e1000e',
      preferredInputBus: 'usb',
      preferredAutoattachInputDevice: true,
    },
  });
  const given = vm({ volumes: VOLUMES });
  const { applied } = instanceWithTypes(
    toInstance(given),
    given,
    { instancetype: instancetype(), preference: preferred },
    configured(),
  );
  expect(applied).toMatchObject({
    metadata: { annotations: { 'kubevirt.io/cluster-instancetype-name': 'small' } },
    spec: {
      domain: {
        memory: { guest: '1Gi' },
        devices: {
          disks: [{ name: 'root', disk: { bus: 'sata' } }],
          interfaces: [{ name: 'default', bridge: {}, model: 'e1000e' }],
          inputs: [{ name: 'default-0', bus: 'usb' }],
        },
      },
      networks: [{ name: 'default', pod: {} }],
    },
  });
});

test('a guest that is not to have an interface gets none', () => {
  const types = { preference: preference({ devices: { preferredAutoattachPodInterface: false } }) };
  const given = vm();
  expect(instanceWithTypes(toInstance(given), given, types, configured()).applied?.spec).not.toHaveProperty('networks');
});

test('an expanded VM refers to nothing and says all', () => {
  const given = { ...vm({ volumes: VOLUMES }), status: { created: true, instancetypeRef: { name: 'small' } } };
  const { applied } = expanded(given, { instancetype: instancetype() }, configured());
  expect(applied?.spec).not.toHaveProperty('instancetype');
  expect(applied?.status).toEqual({ created: true });
  expect(applied?.spec.template.spec).toMatchObject({
    architecture: 'amd64',
    domain: { cpu: { sockets: 2 }, machine: { type: 'q35' }, memory: { guest: '1Gi' } },
  });
  expect(given.spec.template.spec?.domain).toEqual({ devices: {} });
});

test('conflicts are those of the template', () => {
  const given = vm({ domain: { devices: {}, memory: { guest: '2Gi' } } });
  const types = { instancetype: instancetype() };
  const field = 'spec.template.spec.domain.memory.guest';
  expect(expanded(given, types, configured()).causes).toMatchObject([{ field }]);
  expect(instanceWithTypes(toInstance(given), given, types, configured()).causes).toMatchObject([{ field }]);
});
