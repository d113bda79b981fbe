import { expect, test } from '@jest/globals';
import type { InstanceReport } from '../../../../../api/contract/activities.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { assessMigratability } from '../../../../../activities/controller/instance/migratability.ts';
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
  const assessed = await assessMigratability(cluster(modes).kube, vmi(), report(), config);
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
  const assessed = await assessMigratability(kube, live, told, config);
  expect(assessed !== undefined).toBe(looked);
  expect(reads.length > 0).toBe(looked);
});
