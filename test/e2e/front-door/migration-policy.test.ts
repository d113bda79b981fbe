import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { apply, kubectl } from '../support/kubectl.ts';
import { createMigration, deleteMigrations, untilOver, untilSettled } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { createVm, deleteVm, getVmi, NAMESPACE, untilReady } from '../support/vms.ts';

jest.setTimeout(300_000);

const VM = 'governed';
const deletePolicy = (): Promise<string> => kubectl(['delete', 'migrationpolicy', VM, '--ignore-not-found']);

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteMigrations();
  await deleteVm(VM);
  await createVm(VM, { network: true });
  await untilReady(VM);
});
afterAll(async () => {
  await deletePolicy();
  await deleteVm(VM);
});

test('a migration runs with the settings of the policy for its VM, and its status names both', async () => {
  await apply({
    ...{ apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name: VM } },
    spec: {
      ...{ allowAutoConverge: true, bandwidthPerMigration: '256Mi', maxDowntimeMs: 700 },
      selectors: { namespaceSelector: { 'kubernetes.io/metadata.name': NAMESPACE } },
    },
  });
  const policy = {
    migrationPolicyName: VM,
    migrationConfiguration: { allowAutoConverge: true, bandwidthPerMigration: '256Mi', maxDowntimeMs: 700 },
  };
  await createMigration('by-policy', VM);
  const { status } = await untilOver('by-policy', 180_000);
  expect(status).toMatchObject({ phase: 'Succeeded', migrationState: policy });
  await untilSettled(VM);
  expect((await getVmi(VM))?.status?.migrationState).toMatchObject(policy);
});

test('without it the next one has those of the cluster', async () => {
  await deletePolicy();
  await createMigration('by-cluster', VM);
  const { status } = await untilOver('by-cluster', 180_000);
  expect(status).toMatchObject({
    phase: 'Succeeded',
    migrationState: { migrationConfiguration: { allowAutoConverge: false, bandwidthPerMigration: '0' } },
  });
  expect(status?.migrationState).not.toHaveProperty('migrationPolicyName');
  await untilSettled(VM);
});
