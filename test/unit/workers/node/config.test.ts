import { expect, test } from '@jest/globals';
import { readConfig } from '../../../../workers/node/config.ts';

test('only the node’s name has no default', () => {
  expect(readConfig({ NODE_NAME: 'node-a' })).toEqual({
    node: 'node-a',
    logLevel: 'info',
    healthPort: 8080,
    temporalMetricsPort: 9464,
    pods: '/pods',
    devicePlugins: '/var/lib/kubelet/device-plugins',
    imageCache: '/var/lib/virtflow/container-disks',
    imageView: '/run/virtflow/container-disks',
    hostRoot: '/host',
  });
});

test('every variable that is missing or wrong is named', () => {
  const read = (): unknown => readConfig({ HEALTH_PORT: 'x', PODS_DIRECTORY: 'pods' });
  expect(read).toThrow(/NODE_NAME.*HEALTH_PORT.*PODS_DIRECTORY/);
});
