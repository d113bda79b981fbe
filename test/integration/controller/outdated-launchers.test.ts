import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { markOutdated, wrongLabels } from '../../../workers/controller/outdated-launchers.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyBase, asPod } from '../../support/deployed.ts';

/** With the rights that the controller has, and no others. */
let server: TestApiServer;
let admin: KubePort;
let controller: KubePort;

beforeAll(async () => {
  server = await startApiServer();
  admin = kubeClient(server.rest);
  await applyBase(server, ['controller-access.yaml']);
  controller = kubeClient(await asPod(server, 'virtflow-controller', 'node-1'));
}, 120_000);
afterAll(() => server.close());

test('instances and Pods of an older launcher are marked, and nothing else of them changes', async () => {
  const name = { namespace: 'default', name: 'web' };
  const vmi = await admin.create('VirtualMachineInstance', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...name, labels: { app: 'web' } },
    spec: { domain: { devices: {} } },
    status: { phase: 'Running', launcherContainerImageVersion: 'launcher:1' },
  });
  const pod = await admin.create('Pod', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...name,
      labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': vmi.metadata?.uid ?? '' },
    },
    spec: { containers: [{ name: 'compute', image: 'launcher:1' }] },
  });
  const mark = async (image: string): Promise<object[]> => {
    const [instances, pods] = await Promise.all([
      controller.list('VirtualMachineInstance', { namespace: 'default' }),
      controller.list('Pod', { namespace: 'default' }),
    ]);
    const labels = wrongLabels(instances, pods, image);
    await markOutdated(controller, labels, pino({ level: 'silent' }));
    return labels;
  };
  const labels = async (kind: 'VirtualMachineInstance' | 'Pod') => (await admin.get(kind, name))?.metadata?.labels;

  expect(await mark('launcher:2')).toHaveLength(2);
  expect(await labels('VirtualMachineInstance')).toEqual({ app: 'web', 'kubevirt.io/outdatedLauncherImage': '' });
  expect(await labels('Pod')).toEqual({ ...pod.metadata?.labels, 'kubevirt.io/outdatedLauncherImage': '' });
  expect(await mark('launcher:2')).toEqual([]);
  expect(await mark('launcher:1')).toHaveLength(2);
  expect(await labels('VirtualMachineInstance')).toEqual({ app: 'web' });
  expect(await labels('Pod')).toEqual(pod.metadata?.labels);
});
