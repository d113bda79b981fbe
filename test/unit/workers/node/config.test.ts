import { expect, test } from '@jest/globals';
import { readConfig } from '../../../../workers/node/config.ts';

test('only the node’s name and address have no default', () => {
  expect(readConfig({ NODE_NAME: 'node-a', MIGRATION_ADDRESS: '10.0.0.1' })).toEqual({
    node: 'node-a',
    logLevel: 'info',
    healthPort: 8080,
    temporalMetricsPort: 9464,
    pods: '/pods',
    devicePlugins: '/var/lib/kubelet/device-plugins',
    imageCache: '/var/lib/virtflow/container-disks',
    imageView: '/run/virtflow/container-disks',
    hostRoot: '/host',
    namespace: 'virtflow',
    capabilities: '/var/lib/virtflow/capabilities',
    cpuManagerState: '/host/kubelet/cpu_manager_state',
    certificates: '/var/lib/virtflow/certificates',
    migration: { address: '10.0.0.1', port: 9810, directory: '/var/lib/virtflow/migrations' },
  });
});

test('every variable that is missing or wrong is named', () => {
  const read = (): unknown => readConfig({ HEALTH_PORT: 'x', PODS_DIRECTORY: 'pods', MIGRATION_ADDRESS: 'node-a' });
  expect(read).toThrow(/NODE_NAME.*HEALTH_PORT.*PODS_DIRECTORY.*MIGRATION_ADDRESS/);
});
