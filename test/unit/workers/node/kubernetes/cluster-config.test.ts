import { expect, test } from '@jest/globals';
import type { KubeVirt } from '../../../../../api/kubevirt/types.ts';
import { readClusterConfig } from '../../../../../workers/node/kubernetes/cluster-config.ts';

const object = (creationTimestamp: string, cpuModel: unknown, lastGood?: object): KubeVirt =>
  ({
    metadata: { name: 'kubevirt', creationTimestamp },
    spec: { configuration: { cpuModel } },
    ...(lastGood && { status: { observedDeploymentConfig: JSON.stringify(lastGood) } }),
  }) as KubeVirt;

const read = (...objects: KubeVirt[]): ReturnType<ReturnType<typeof readClusterConfig>> =>
  readClusterConfig({ list: () => Promise.resolve(objects as never) })();

test('without an object KubeVirt’s defaults hold', async () => {
  expect(await read()).toMatchObject({ useEmulation: false });
});

test('of several objects the oldest counts', async () => {
  expect((await read(object('2026-02-01T00:00:00Z', 'new'), object('2026-01-01T00:00:00Z', 'old'))).cpuModel).toBe(
    'old',
  );
});

test('of an object that cannot be read the last good configuration stays in force', async () => {
  expect((await read(object('2026-01-01T00:00:00Z', 7, { cpuModel: 'good' }))).cpuModel).toBe('good');
  await expect(read(object('2026-01-01T00:00:00Z', 7))).rejects.toThrow(/cpuModel/);
});
