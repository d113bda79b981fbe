import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { KubeVirt } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { apply, getObject, kubectl, kubectlError } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { SYSTEM_NAMESPACE } from '../support/pods.ts';
import { guestSpec } from '../support/vms.ts';

jest.setTimeout(180_000);

/** The API as kubectl's users meet it. */
const NAMESPACE = 'virtflow-front-door';

const vm = (name: string, spec: object = {}) => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, namespace: NAMESPACE } },
  spec: { runStrategy: 'Halted', template: { spec: guestSpec() }, ...spec },
});
const columnsOf = (table: string): string[] =>
  table
    .split('\n')[0]
    ?.trim()
    .split(/\s{2,}/) ?? [];

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  await apply(vm('still'));
});
afterAll(async () => {
  await kubectl(['delete', 'migrationpolicy', 'front-door', '--ignore-not-found']);
  await kubectl(['delete', 'vmirs', '--all', '-n', NAMESPACE]);
  await emptyNamespace(NAMESPACE);
});

describe('an unknown field', () => {
  const misspelt = vm('misspelt', { template: { spec: { ...guestSpec(), nodeSelektor: { a: 'b' } } } });

  test('is an error of kubectl apply that names it', async () => {
    const message = await kubectlError(['apply', '-f', '-'], stringify(misspelt));
    expect(message).toContain('unknown field "spec.template.spec.nodeSelektor"');
    expect(await getObject('vm', 'misspelt', NAMESPACE)).toBeUndefined();
  });

  test('is dropped where nobody asks', async () => {
    await kubectl(['apply', '--validate=ignore', '-f', '-'], stringify(misspelt));
    const stored = await getObject<ReturnType<typeof vm>>('vm', 'misspelt', NAMESPACE);
    expect(stored?.spec.template.spec).not.toHaveProperty('nodeSelektor');
  });
});

test.each([
  ['vm.spec.template.spec.domain', ['cpu', 'memory', 'devices', 'firmware']],
  ['vmi.spec.volumes', ['containerDisk', 'persistentVolumeClaim', 'cloudInitNoCloud']],
  ['vmi.status', ['phase', 'conditions', 'migrationState', 'guestOSInfo']],
  ['vmim.spec', ['vmiName', 'addedNodeSelector']],
  ['kubevirt.spec.configuration.migrations', ['parallelMigrationsPerCluster', 'allowPostCopy']],
  ['migrationpolicy.spec', ['selectors', 'bandwidthPerMigration']],
])('kubectl explain %s knows its fields', async (path, fields) => {
  const text = await kubectl(['explain', path]);
  for (const field of fields) expect(text).toMatch(new RegExp(`^\\s+${field}\\s+<`, 'm'));
});

test.each([
  ['vm', ['NAME', 'AGE', 'STATUS', 'READY']],
  ['vmirs', ['NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE']],
])('kubectl get %s has the columns of KubeVirt', async (kind, columns) => {
  if (kind === 'vmirs') {
    const labels = { a: 'b' };
    const template = { metadata: { labels }, spec: guestSpec() };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await apply({
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceReplicaSet' },
      ...{ metadata: { name: 'many', namespace: NAMESPACE }, spec },
    });
  }
  expect(columnsOf(await kubectl(['get', kind, '-n', NAMESPACE]))).toEqual(columns);
});

test('short names and the category all find VMs', async () => {
  for (const name of ['vm', 'vms', 'virtualmachine', 'all'])
    expect(await kubectl(['get', name, '-n', NAMESPACE, '-o', 'name'])).toContain('virtualmachine.kubevirt.io/still');
  for (const name of ['vmi', 'vmis', 'vmim', 'vmims', 'vmirs', 'vmirss'])
    expect(await kubectlError(['get', name, '-n', NAMESPACE])).toBe('');
});

test('the deprecated version serves the same objects', async () => {
  const text = await kubectl(['get', 'virtualmachines.v1alpha3.kubevirt.io', 'still', '-n', NAMESPACE, '-o', 'yaml']);
  expect(text).toContain('runStrategy: Halted');
});

test('the KubeVirt object says that all is deployed, with the release that is served', async () => {
  const status = await until('it is Deployed', async () => {
    const kubevirt = await getObject<KubeVirt>('kv', 'kubevirt', SYSTEM_NAMESPACE);
    return kubevirt?.status?.phase === 'Deployed' ? kubevirt.status : undefined;
  });
  const conditions = Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
  expect(conditions).toMatchObject({ Created: 'True', Available: 'True', Progressing: 'False', Degraded: 'False' });
  expect(status.observedKubeVirtVersion).toMatch(/^v1\.\d+\.\d+/);
  expect(status.targetKubeVirtVersion).toBe(status.observedKubeVirtVersion);
  expect(columnsOf(await kubectl(['get', 'kv', '-n', SYSTEM_NAMESPACE]))).toEqual(['NAME', 'AGE', 'PHASE']);
});

test('a migration policy is one for the whole cluster', async () => {
  await apply({
    ...{ apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name: 'front-door' } },
    spec: { allowAutoConverge: true, selectors: { namespaceSelector: { 'nobody.test/has': 'it' } } },
  });
  expect(await kubectl(['get', 'migrationpolicies', '-o', 'name'])).toContain(
    'migrationpolicy.migrations.kubevirt.io/front-door',
  );
});
