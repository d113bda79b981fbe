import { expect, test } from '@jest/globals';
import type { InstanceReport } from '../../../../../api/contract/activities.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { surroundings } from '../../../../../activities/controller/instance/surroundings.ts';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import { configured, instance } from '../../../../support/instances.ts';

const config = configured({ network: { defaultNetworkInterface: 'masquerade' } });

/** A cluster that counts what is read: claim d with these access modes, if any. */
const cluster = (modes?: string[]) => {
  const reads: string[] = [];
  const get = (kind: string): Promise<unknown> => {
    reads.push(kind);
    const claim = modes === undefined ? undefined : { spec: { accessModes: modes } };
    return Promise.resolve(kind === 'PersistentVolumeClaim' ? claim : { metadata: { labels: {} } });
  };
  return { kube: { get } as unknown as KubePort, reads };
};
const vmi = (status: VirtualMachineInstance['status'] = {}, spec: object = {}): VirtualMachineInstance => ({
  ...instance({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }], ...spec }),
  status,
});
const report = (phase = 'Running', node = 'node-a'): InstanceReport => ({
  ...{ phase, phaseTimes: [], activePods: {}, node, conditions: [] },
});
const said = { nodeName: 'node-a', conditions: [{ type: 'LiveMigratable', status: 'False' }] };

test.each<[string, string[] | undefined, string]>([
  ['a claim that both nodes can mount', ['ReadWriteMany'], 'True'],
  ['a claim that one node can mount', ['ReadWriteOnce'], 'False'],
  ['a claim that is not there', undefined, 'False'],
])('%s', async (_, modes, status) => {
  const { migratability: assessed } = await surroundings(cluster(modes), vmi(), report(), config);
  expect(assessed?.live.status).toBe(status);
});

test.each<[string, VirtualMachineInstance, InstanceReport, boolean]>([
  ['the guest does not run yet', vmi(), report('Scheduled'), false],
  ['it runs for the first time', vmi({ nodeName: 'node-a' }), report(), true],
  ['it is said already', vmi(said), report(), false],
  ['it runs elsewhere now', vmi(said), report('Running', 'node-b'), true],
  ['it has ended', vmi(), report('Succeeded'), false],
  ['its spec cannot be read', vmi({}, { volumes: 7 }), report(), false],
])('is looked at or not: %s', async (_, live, told, looked) => {
  const { kube, reads } = cluster(['ReadWriteMany']);
  const { migratability: assessed } = await surroundings({ kube }, live, told, config);
  expect(assessed !== undefined).toBe(looked);
  expect(reads.includes('Node')).toBe(looked);
});

const starting = (activePods: Record<string, string>): InstanceReport => ({ ...report('Scheduling'), activePods });
const known = { volumeStatus: [{ name: 'v', target: '' }] };

test.each<[string, VirtualMachineInstance, InstanceReport, boolean]>([
  ['it has no Pod yet', vmi(), starting({}), false],
  ['it gets its Pod', vmi(), starting({ p: '' }), true],
  ['that was told before', vmi(known), starting({ p: 'node-a' }), false],
  ['its guest runs', vmi(known), report(), true],
  ['its guest goes on running', vmi({ ...said, ...known }), report(), false],
])('claims are looked at or not: %s', async (_, live, told, looked) => {
  const { claims } = await surroundings(cluster(['ReadWriteMany']), live, told, config);
  expect(claims !== undefined).toBe(looked);
});

test('while it starts, how far its DataVolumes are', async () => {
  const get = (kind: string): Promise<unknown> =>
    Promise.resolve(
      kind === 'DataVolume' ? { status: { conditions: [{ type: 'Ready', status: 'False' }] } } : undefined,
    );
  const live = vmi({}, { volumes: [{ name: 'v', dataVolume: { name: 'd' } }] });
  const { dataVolumes } = await surroundings({ kube: { get } as unknown as KubePort }, live, starting({}), config);
  expect(dataVolumes).toMatchObject({ type: 'DataVolumesReady', status: 'False', reason: 'NotAllDVsReady' });
});

test('what its admission would have said of the guest is said when it runs', async () => {
  const live = vmi({}, { domain: { devices: {}, memory: { guest: '128Mi' }, cpu: { cores: 2 } } });
  const { beginnings } = await surroundings(cluster(['ReadWriteMany']), live, report(), config);
  expect(beginnings).toEqual({
    memory: { guestAtBoot: '128Mi', guestCurrent: '128Mi', guestRequested: '128Mi' },
    currentCPUTopology: { cores: 2 },
    runtimeUser: 107,
  });
});
