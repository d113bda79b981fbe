import { describe, expect, test } from '@jest/globals';
import { checkVolumes } from '../../../../../activities/controller/volumes/check-volumes.ts';
import { dataVolumesReady } from '../../../../../activities/controller/volumes/data-volumes.ts';
import { KubeError } from '../../../../../activities/kube/port.ts';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import { configured, instance } from '../../../../support/instances.ts';
import { firstConsumerName } from '../../../../../activities/controller/launch-manifest/index.ts';

const ref = { namespace: 'default', name: 'vm-a', uid: 'u1' };

/** A cluster with these objects, by "Kind name"; kinds in `unserved` it does not know. */
const cluster = (spec: object, objects: Record<string, object>, unserved: string[] = []) => {
  const vmi = instance(spec);
  const live = { ...vmi, metadata: { ...vmi.metadata, ...ref } };
  const get = (kind: string, { name }: { name: string }): Promise<unknown> => {
    if (unserved.includes(kind)) return Promise.reject(new KubeError(404, 'HTTP404', '404 page not found'));
    return Promise.resolve(kind === 'VirtualMachineInstance' ? live : objects[`${kind} ${name}`]);
  };
  const done: string[] = [];
  const kube = {
    get,
    list: () => Promise.resolve([]),
    create: (_: string, pod: Pod) => {
      done.push(`create ${pod.metadata?.annotations?.['kubevirt.io/ephemeral-provisioning']}`);
      return Promise.resolve(pod);
    },
    remove: (kind: string) => Promise.resolve(void done.push(`remove ${kind}`)),
  };
  return { kube: kube as unknown as KubePort, config: () => configured(), launcherImage: 'launcher:1', done };
};
const pvc = { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'd' } }] };
const dv = { volumes: [{ name: 'disk', dataVolume: { name: 'd' } }] };
const bound = { status: { phase: 'Bound' } };
const waiting = { spec: { storageClassName: 'late' }, status: { phase: 'Pending' } };
const filled = { metadata: { ownerReferences: [{ kind: 'DataVolume', name: 'x', controller: true }] }, ...bound };
const phase = (name: string, more = {}) => ({ status: { phase: name, ...more } });
const multus = (networkName: string) => ({ networks: [{ name: 'red', multus: { networkName } }] });

const outcome = async (ports: ReturnType<typeof cluster>): Promise<string> => {
  try {
    await checkVolumes(ports)(ref);
    return 'ready';
  } catch (error) {
    return (error as { type: string }).type;
  }
};

test.each<[string, object, Record<string, object>, string]>([
  ['a claim that does not exist', pvc, {}, 'VolumeNotFound'],
  ['a claim that is not bound', pvc, { 'PersistentVolumeClaim d': phase('Pending') }, 'VolumeNotReady'],
  ['a claim that is bound', pvc, { 'PersistentVolumeClaim d': bound }, 'ready'],
  ['a claim that has lost its volume', pvc, { 'PersistentVolumeClaim d': phase('Lost') }, 'VolumeNotReady'],
  [
    'a claim that the launcher Pod binds',
    pvc,
    { 'PersistentVolumeClaim d': waiting, 'StorageClass late': { volumeBindingMode: 'WaitForFirstConsumer' } },
    'ready',
  ],
  [
    'a claim that its class binds at once, later',
    pvc,
    { 'PersistentVolumeClaim d': waiting, 'StorageClass late': { volumeBindingMode: 'Immediate' } },
    'VolumeNotReady',
  ],
  [
    'a claim that its DataVolume fills',
    pvc,
    { 'PersistentVolumeClaim d': filled, 'DataVolume x': phase('ImportInProgress') },
    'VolumeNotReady',
  ],
  ['a DataVolume before its claim', dv, { 'DataVolume d': phase('Pending') }, 'VolumeNotReady'],
  ['a DataVolume that is done', dv, { 'PersistentVolumeClaim d': bound, 'DataVolume d': phase('Succeeded') }, 'ready'],
  ['a DataVolume that was collected after its end', dv, { 'PersistentVolumeClaim d': bound }, 'ready'],
  [
    'a DataVolume whose populator waits for the launcher Pod',
    dv,
    {
      'PersistentVolumeClaim d': waiting,
      'DataVolume d': phase('PendingPopulation'),
      'StorageClass late': { volumeBindingMode: 'WaitForFirstConsumer' },
    },
    'ready',
  ],
  ['a DataVolume that has failed', dv, { 'DataVolume d': phase('Failed') }, 'VolumeFailed'],
  ['a network that does not exist', multus('red'), {}, 'NetworkNotFound'],
  [
    'networks that make no sense, which its admission refuses',
    { networks: [7, { name: 'a', multus: 1 }, null] },
    {},
    'ready',
  ],
  ['networks that are no list', { networks: 7 }, {}, 'ready'],
  ['a network of its own namespace', multus('red'), { 'NetworkAttachmentDefinition red': {} }, 'ready'],
  ['a network of another namespace', multus('infra/red'), { 'NetworkAttachmentDefinition red': {} }, 'ready'],
])('%s', async (_, spec, objects, expected) => {
  await expect(outcome(cluster(spec, objects))).resolves.toBe(expected);
});

test('a cluster without DataVolumes has claims all the same, one without Multus no such networks', async () => {
  const unserved = ['DataVolume', 'NetworkAttachmentDefinition'];
  await expect(outcome(cluster(dv, { 'PersistentVolumeClaim d': bound }, unserved))).resolves.toBe('ready');
  await expect(outcome(cluster(multus('red'), {}, unserved))).resolves.toBe('NetworkNotFound');
});

describe('a DataVolume that is bound for its first consumer', () => {
  const late = {
    'PersistentVolumeClaim d': waiting,
    'StorageClass late': { volumeBindingMode: 'WaitForFirstConsumer' },
  };
  const consumer = {
    [`Pod ${firstConsumerName({ metadata: ref, spec: { domain: { devices: {} } } })}`]: { metadata: { uid: 'p' } },
  };

  test('gets one, and is waited for', async () => {
    const ports = cluster(dv, { ...late, 'DataVolume d': phase('WaitForFirstConsumer') });
    await expect(outcome(ports)).resolves.toBe('VolumeNotReady');
    expect(ports.done).toEqual(['create true']);
  });

  test('gets only one', async () => {
    const ports = cluster(dv, { ...late, ...consumer, 'DataVolume d': phase('WaitForFirstConsumer') });
    await expect(outcome(ports)).resolves.toBe('VolumeNotReady');
    expect(ports.done).toEqual([]);
  });

  test('needs none any more when it is filled', async () => {
    const ports = cluster(dv, { ...consumer, 'PersistentVolumeClaim d': bound, 'DataVolume d': phase('Succeeded') });
    await expect(outcome(ports)).resolves.toBe('ready');
    expect(ports.done).toEqual(['remove Pod']);
  });
});

test('the wait for a DataVolume tells how far it is', async () => {
  const objects = { 'DataVolume d': phase('ImportInProgress', { progress: '45.0%' }) };
  await expect(checkVolumes(cluster(dv, objects))(ref)).rejects.toThrow('ImportInProgress (45.0%)');
});

test.each([
  [[], undefined],
  [['True', 'True'], 'True AllDVsReady'],
  [['True', 'False'], 'False NotAllDVsReady'],
  [['True', undefined], 'Unknown NotAllDVsReady'],
  [[undefined, 'False'], 'False NotAllDVsReady'],
])('DataVolumesReady of %j is %s', (statuses, expected) => {
  const condition = dataVolumesReady(
    statuses.map((status) => ({
      spec: {},
      status: { conditions: status === undefined ? [] : [{ type: 'Ready', status }] },
    })),
  );
  expect(condition && `${condition.status} ${condition.reason}`).toBe(expected);
});
