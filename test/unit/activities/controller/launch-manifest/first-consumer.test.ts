import { expect, test } from '@jest/globals';
import { asFirstConsumer } from '../../../../../activities/controller/launch-manifest/index.ts';
import { instance } from '../../../../support/instances.ts';
import { render, specOf } from './render.ts';

const vmi = instance({
  nodeSelector: { disk: 'fast' },
  readinessProbe: { tcpSocket: { port: 22 } },
  volumes: [
    { name: 'data', dataVolume: { name: 'd' } },
    { name: 'root', containerDisk: { image: 'i' } },
  ],
});
const launcher = render({ ...vmi, metadata: { ...vmi.metadata, labels: { app: 'web' } } });
const pod = asFirstConsumer(launcher, vmi);

test('it is scheduled as the launcher Pod would be, with the same claims and resources', () => {
  expect(specOf(pod).nodeSelector).toEqual(specOf(launcher).nodeSelector);
  expect(specOf(pod).volumes).toContainEqual(expect.objectContaining({ persistentVolumeClaim: { claimName: 'd' } }));
  expect(specOf(pod).containers[0]?.resources).toEqual(specOf(launcher).containers[0]?.resources);
  expect(specOf(pod).containers[0]?.volumeMounts).toEqual(specOf(launcher).containers[0]?.volumeMounts);
});

test('nothing takes it for the VMI: no labels, no gate, no probe, nothing that runs', () => {
  expect(pod.metadata?.labels).toBeUndefined();
  expect(specOf(pod)).not.toHaveProperty('readinessGates');
  expect(specOf(pod)).not.toHaveProperty('initContainers');
  expect(specOf(pod).containers.map(({ name, readinessProbe }) => [name, readinessProbe])).toEqual([
    ['compute', undefined],
  ]);
  expect(specOf(pod).containers[0]?.command).toEqual(['/usr/lib/virtflow/busybox', 'true']);
});

test('it goes with the VMI, and has one name', () => {
  expect(pod.metadata?.ownerReferences).toEqual(launcher.metadata?.ownerReferences);
  expect(pod.metadata?.name).toBe(asFirstConsumer(launcher, vmi).metadata?.name);
});
