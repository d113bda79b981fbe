import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { OnMigration } from '../../../api/contract/migrations.ts';
import type { MigrationPolicy } from '../../../api/migration-policy/index.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

/** Policies as the admission of a migration finds them on a real API server. */
const KIND = 'VirtualMachineInstanceMigration';
const namespace = 'shop';
const names: string[] = [];

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
let migrating: OnMigration;

beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  const configuration = { network: { defaultNetworkInterface: 'masquerade' }, migrations: { progressTimeout: 33 } };
  activities = activitiesOn(kube, { configuration });
  await kube.create('Namespace', { metadata: { name: namespace, labels: { team: 'a' } } });
  const labels = { 'kubevirt.io/schedulable': 'true' };
  for (const name of ['node-a', 'node-b']) await kube.create('Node', { metadata: { name, labels } });
}, 180_000);
afterAll(() => server.close(), 30_000);

beforeEach(async () => {
  const vmi = await kube.create('VirtualMachineInstance', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
    metadata: { namespace, generateName: 'web-', labels: { app: 'web' } },
    spec: { domain: { memory: { guest: '64Mi' }, devices: {} } },
    status: { phase: 'Running', nodeName: 'node-a' },
  });
  const migration = await kube.create(KIND, {
    ...{ apiVersion: 'kubevirt.io/v1', kind: KIND, metadata: { namespace, generateName: 'move-' } },
    spec: { vmiName: vmi.metadata?.name ?? '' },
  });
  migrating = { vmi: refOf(vmi), migration: refOf(migration) };
});
afterEach(async () => {
  for (const name of names.splice(0)) {
    const path = `/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies/${name}`;
    await server.rest.send({ method: 'DELETE', path });
  }
});

const policy = async (name: string, spec: MigrationPolicy['spec']): Promise<void> => {
  names.push(name);
  await kube.create('MigrationPolicy', {
    ...{ apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name }, spec },
  });
};
const optionsNow = async () => (await activities.admitMigration(migrating)).options;

describe('a migration', () => {
  test('has the settings of the cluster where no policy is for its VMI', async () => {
    await policy('others', { allowPostCopy: true, selectors: { virtualMachineInstanceSelector: { app: 'db' } } });
    const options = await optionsNow();
    expect(options).toMatchObject({ allowPostCopy: false, progressTimeout: 33 });
    expect(options).not.toHaveProperty('policy');
  });

  test('has those of the policy that fits best, by labels of VMI and namespace', async () => {
    const team = { namespaceSelector: { team: 'a' } };
    await policy('team', { bandwidthPerMigration: '1Gi', allowAutoConverge: true, selectors: team });
    const web = { ...team, virtualMachineInstanceSelector: { app: 'web' } };
    await policy('web', { bandwidthPerMigration: '64Mi', maxDowntimeMs: 900, selectors: web });
    expect(await optionsNow()).toMatchObject({
      ...{ policy: 'web', bandwidth: 64 * 2 ** 20, maxDowntimeMs: 900, allowAutoConverge: false, progressTimeout: 33 },
    });
  });

  test('under way keeps to the policy too', async () => {
    await policy('everyone', { allowPostCopy: true, selectors: {} });
    const status = { subresource: 'status' } as const;
    await kube.mergePatch(KIND, migrating.migration, { status: { phase: 'Running' } }, status);
    expect(await optionsNow()).toMatchObject({
      policy: 'everyone',
      allowPostCopy: true,
      allowWorkloadDisruption: true,
    });
  });
});

test.each([
  ['a negative time', { completionTimeoutPerGiB: -1, selectors: {} }, 'spec.completionTimeoutPerGiB'],
  ['a negative bandwidth', { bandwidthPerMigration: '-1Mi', selectors: {} }, 'spec.bandwidthPerMigration'],
  ['a longer pause than QEMU takes', { maxDowntimeMs: 2_000_001, selectors: {} }, 'spec.maxDowntimeMs'],
  ['no selectors', { allowPostCopy: true }, 'spec.selectors: Required value'],
])('a policy with %s is refused', async (_, spec, message) => {
  await expect(policy('bad', spec)).rejects.toThrow(message);
  names.splice(0);
});
