import { expect, test } from '@jest/globals';
import { loadOrder, parseModulesDep } from '../../../../../deploy/local/guest/modules.ts';

const dependencies =
  parseModulesDep(`kernel/drivers/net/virtio_net.ko: kernel/net/core/failover.ko kernel/drivers/virtio/virtio.ko
kernel/net/core/failover.ko:
kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_ring.ko:
kernel/drivers/char/hw_random/virtio-rng.ko: kernel/drivers/virtio/virtio.ko
`);

test('a module comes after everything it needs, and each module once', () => {
  const order = loadOrder(dependencies, ['virtio_net', 'virtio-rng']).map((path) => path.replace(/^.*\//, ''));
  expect(order).toHaveLength(5);
  for (const [path, needs] of dependencies) {
    for (const need of needs) {
      const at = (module: string) => order.indexOf(module.replace(/^.*\//, ''));
      expect(at(need)).toBeLessThan(at(path));
    }
  }
});

test('hyphens and underscores in module names are the same', () => {
  expect(loadOrder(dependencies, ['virtio_rng']).at(-1)).toBe('kernel/drivers/char/hw_random/virtio-rng.ko');
});

test('a module that the kernel does not have is named', () => {
  expect(() => loadOrder(dependencies, ['ahci'])).toThrow('no module ahci');
});
