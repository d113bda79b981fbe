import { expect, test } from '@jest/globals';
import { toDomain } from '../../../../../launcher/converter/index.ts';
import { host, withDevices } from '../examples.ts';

test('a shared directory is served over a socket, by a daemon that maps the memory of the guest', () => {
  const { devices, memoryBacking, cpu } = toDomain(
    withDevices({ filesystems: [{ name: 'home', virtiofs: {} }] }),
    host(),
  );
  expect(devices.filesystem).toMatchObject([
    { target: { '@dir': 'home' }, source: { '@socket': '/var/run/kubevirt/virtiofs-containers/home.sock' } },
  ]);
  expect(memoryBacking).toMatchObject({ source: { '@type': 'memfd' }, access: { '@mode': 'shared' } });
  expect(cpu.numa?.cell).toHaveLength(1);
});

test('without one, nothing is shared', () => {
  const { devices, memoryBacking, cpu } = toDomain(withDevices({}), host());
  expect([devices.filesystem, memoryBacking, cpu.numa]).toEqual([undefined, undefined, undefined]);
});
