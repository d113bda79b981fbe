import { expect, test } from '@jest/globals';
import type { KubeVirt } from '../../../../../api/kubevirt/types.ts';
import { clusterConfigOf } from '../../../../../workers/node/kubernetes/cluster-config.ts';

const object = (creationTimestamp: string, cpuModel: unknown, lastGood?: object): KubeVirt =>
  ({
    metadata: { name: 'kubevirt', creationTimestamp },
    spec: { configuration: { cpuModel } },
    ...(lastGood && { status: { observedDeploymentConfig: JSON.stringify(lastGood) } }),
  }) as KubeVirt;

test('without an object KubeVirt’s defaults hold', () => {
  expect(clusterConfigOf([])).toMatchObject({ useEmulation: false });
});

test('of several objects the oldest counts', () => {
  const objects = [object('2026-02-01T00:00:00Z', 'new'), object('2026-01-01T00:00:00Z', 'old')];
  expect(clusterConfigOf(objects).cpuModel).toBe('old');
});

test('of an object that cannot be read the last good configuration stays in force', () => {
  expect(clusterConfigOf([object('2026-01-01T00:00:00Z', 7, { cpuModel: 'good' })]).cpuModel).toBe('good');
  expect(() => clusterConfigOf([object('2026-01-01T00:00:00Z', 7)])).toThrow(/cpuModel/);
});
