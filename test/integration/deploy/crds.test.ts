import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { KubeError } from '../../../activities/kube/port.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { richInstance, richMigration, richVirtualMachine } from '../../unit/api/validation/samples.ts';

/** The definitions of deploy/crds in a real API server. */
const EXAMPLES = join(import.meta.dirname, '../../../examples');
const PLURALS: Record<string, string> = {
  VirtualMachine: 'virtualmachines',
  VirtualMachineInstance: 'virtualmachineinstances',
  VirtualMachineInstanceMigration: 'virtualmachineinstancemigrations',
  VirtualMachineInstanceReplicaSet: 'virtualmachineinstancereplicasets',
};

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

let server: TestApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await server.rest.send({
    ...{ method: 'POST', path: '/api/v1/namespaces' },
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  });
});
afterAll(() => server.close());

const collection = ({ apiVersion, kind }: Manifest): string =>
  `/apis/${apiVersion}/namespaces/shop/${PLURALS[kind] ?? ''}`;

const DRY: Record<string, string> = { dryRun: 'All', fieldValidation: 'Strict' };

/** By default as kubectl does, which has unknown fields refused, and nothing is stored. */
const create = async (manifest: Manifest, query = DRY): Promise<Manifest> =>
  (await server.rest.send({
    ...{ method: 'POST', path: collection(manifest), query },
    body: { ...manifest, metadata: { ...manifest.metadata, namespace: 'shop' } },
  })) as Manifest;

const refusal = (manifest: Manifest): Promise<string> =>
  create(manifest).then(
    () => 'taken',
    (error: unknown) => (error instanceof KubeError ? error.message : String(error)),
  );

const minimal = (spec: object = {}): Manifest => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name: 'small' } },
  spec: { domain: { devices: {}, memory: { guest: '64Mi' } }, ...spec },
});
const machine = (spec: object = {}): Manifest => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'small' } },
  spec: { runStrategy: 'Always', template: { metadata: {}, spec: minimal().spec }, ...spec },
});

test.each([richInstance(), richVirtualMachine(), richMigration()] as Manifest[])(
  'a $kind with something in most places loses nothing of it, in the deprecated version too',
  async ({ status: _status, ...manifest }) => {
    for (const apiVersion of ['kubevirt.io/v1', 'kubevirt.io/v1alpha3']) {
      expect((await create({ ...manifest, apiVersion })).spec).toEqual(manifest.spec);
    }
  },
);

test('the examples are taken as they are', async () => {
  for (const file of (await readdir(EXAMPLES)).filter((name) => name.endsWith('.yaml'))) {
    const documents = parseAllDocuments(await readFile(join(EXAMPLES, file), 'utf8'));
    for (const manifest of documents.map((document) => document.toJSON() as Manifest)) {
      if (PLURALS[manifest.kind]) expect((await create(manifest)).spec).toEqual(manifest.spec);
    }
  }
});

describe('an unknown field', () => {
  test.each([
    [minimal({ nodeSelektor: {} }), 'unknown field "spec.nodeSelektor"'],
    [minimal({ domain: { devices: { disk: [] } } }), 'unknown field "spec.domain.devices.disk"'],
    [machine({ runStrategie: 'Always' }), 'unknown field "spec.runStrategie"'],
    [
      machine({ template: { spec: { domain: { devices: {}, cpus: 1 } } } }),
      'unknown field "spec.template.spec.domain.cpus"',
    ],
  ])('is named to who asks for it, as kubectl does', async (manifest, message) => {
    expect(await refusal(manifest)).toContain(message);
  });

  test('of a status is dropped, one of KubeVirt is kept', async () => {
    const status = { phase: 'Pending', phaze: 'x', activePods: { uid: 'node' }, conditions: [] };
    const stored = await create({ ...minimal(), status }, { dryRun: 'All', fieldValidation: 'Ignore' });
    expect(stored.status).toEqual({ phase: 'Pending', activePods: { uid: 'node' }, conditions: [] });
  });
});

test.each([
  ['a template whose metadata are null', machine({ template: { metadata: null, spec: minimal().spec } })],
  [
    'a template as generators write it',
    machine({ template: { metadata: { creationTimestamp: null, labels: { a: 'b' } }, spec: minimal().spec } }),
  ],
  ['a quantity that is a number', minimal({ domain: { devices: {}, memory: { guest: 67_108_864 } } })],
  ['a port by its name', minimal({ readinessProbe: { tcpSocket: { port: 'ssh' } } })],
])('%s is taken', async (_, manifest) => {
  expect(await refusal(manifest)).toBe('taken');
});

test.each([
  ['a text for a number', minimal({ terminationGracePeriodSeconds: 'soon' }), 'spec.terminationGracePeriodSeconds'],
  ['a fraction of a core', minimal({ domain: { devices: {}, cpu: { cores: 1.5 } } }), 'spec.domain.cpu.cores'],
  ['no quantity', minimal({ domain: { devices: {}, memory: { guest: 'much' } } }), 'spec.domain.memory.guest'],
  ['no template', machine({ template: undefined }), 'spec.template: Required value'],
  ['no domain', minimal({ domain: undefined }), 'spec.domain: Required value'],
])('%s is refused by the name of its field', async (_, manifest, message) => {
  expect(await refusal(manifest)).toContain(message);
});

test('a migration cannot be changed', async () => {
  const migration = richMigration() as Manifest;
  await create(migration, {});
  const change = server.rest.send({
    ...{ method: 'PATCH', path: `${collection(migration)}/${String(migration.metadata['name'])}` },
    ...{ contentType: 'application/merge-patch+json', body: { spec: { vmiName: 'other' } } },
  });
  await expect(change).rejects.toThrow('a migration cannot be changed; delete it');
});

test('a replica set is scaled by its subresource', async () => {
  const set: Manifest = {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceReplicaSet', metadata: { name: 'many' } },
    spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: { spec: minimal().spec } },
  };
  await create(set, {});
  await server.rest.send({
    ...{ method: 'PATCH', path: `${collection(set)}/many/scale` },
    ...{ contentType: 'application/merge-patch+json', body: { spec: { replicas: 3 } } },
  });
  const scaled = (await server.rest.send({ method: 'GET', path: `${collection(set)}/many` })) as Manifest;
  expect(scaled.spec['replicas']).toBe(3);
});
