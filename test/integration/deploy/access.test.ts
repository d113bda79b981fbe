import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyBase, asPod } from '../../support/deployed.ts';
import { until } from '../../support/until.ts';

/** What users and node workers may do, asked of a real API server with the roles and policies of deploy/base. */
const OWN_POD = '/api/v1/namespaces/virtflow/pods/virtflow-node-node-1';

let server: TestApiServer;
let admin: KubePort;
let onNode: Rest;
let node: KubePort;

beforeAll(async () => {
  server = await startApiServer();
  admin = kubeClient(server.rest);
  await admin.create('Node', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2' } });
  await applyBase(server, ['user-roles.yaml', 'node-access.yaml', 'certificates.yaml', 'admission-policies.yaml']);
  onNode = await asPod(server, 'virtflow-node', 'node-1');
  node = kubeClient(onNode);
  for (const role of ['admin', 'edit', 'view', 'migrate'])
    await bind(`kubevirt.io:${role}`, { kind: 'User', name: role });
  // As if somebody had meant well.
  await bind('cluster-admin', { kind: 'ServiceAccount', name: 'virtflow-node', namespace: 'virtflow' });
  // The API server learns of policies by and by.
  const writes = [
    () => node.mergePatch('Node', { name: 'node-2' }, { metadata: { annotations: { 'kubevirt.io/x': 'y' } } }),
    () => node.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'a-' } }),
  ];
  for (const write of writes) {
    const inForce = async (): Promise<boolean> => (await refused(write)).includes('a node worker of virtflow');
    await until('the policies are in force', inForce, { timeoutMs: 30_000, everyMs: 500 });
  }
}, 120_000);
afterAll(() => server.close());

const bind = (role: string, subject: { kind: string; name: string; namespace?: string }): Promise<unknown> =>
  server.rest.send({
    ...{ method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings' },
    body: {
      ...{
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { generateName: 'test-' },
      },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [subject.kind === 'User' ? { ...subject, apiGroup: 'rbac.authorization.k8s.io' } : subject],
    },
  });

/** Why it was refused. */
const refused = (attempt: () => Promise<unknown>): Promise<string> =>
  attempt().then(
    () => 'taken',
    (error: unknown) => (error as Error).message,
  );

const GROUPS: Record<string, string> = {
  sub: 'subresources.kubevirt.io',
  kubevirt: 'kubevirt.io',
  migrations: 'migrations.kubevirt.io',
  types: 'instancetype.kubevirt.io',
};

/** Whether a user may do, as "update sub:virtualmachines/start". */
const may = async (user: string, deed: string): Promise<boolean> => {
  const [, verb, group = '', resource, subresource] = /^(\S+) (\w+):([^/]+)\/?(.*)$/.exec(deed) ?? [];
  const answer = (await server.rest.send({
    ...{ method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews' },
    body: {
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
      spec: {
        user,
        groups: ['system:authenticated'],
        resourceAttributes: { group: GROUPS[group], verb, resource, subresource, namespace: 'shop', name: 'web' },
      },
    },
  })) as { status: { allowed: boolean } };
  return answer.status.allowed;
};

describe('users', () => {
  test.each([
    // deed, who may
    ['get kubevirt:virtualmachines', ['admin', 'edit', 'view']],
    ['watch kubevirt:virtualmachineinstances', ['admin', 'edit', 'view']],
    ['list kubevirt:virtualmachineinstancereplicasets', ['admin', 'edit', 'view']],
    ['create kubevirt:virtualmachines', ['admin', 'edit']],
    ['patch kubevirt:virtualmachineinstances', ['admin', 'edit']],
    ['delete kubevirt:virtualmachines', ['admin', 'edit']],
    ['deletecollection kubevirt:virtualmachines', ['admin']],
    ['list kubevirt:virtualmachineinstancemigrations', ['admin', 'edit', 'view', 'migrate']],
    ['create kubevirt:virtualmachineinstancemigrations', ['migrate']],
    ['delete kubevirt:virtualmachineinstancemigrations', ['migrate']],
    ['list migrations:migrationpolicies', ['admin', 'edit', 'view']],
    ['create migrations:migrationpolicies', []],
    ['list types:virtualmachineclusterinstancetypes', ['admin', 'edit', 'view', 'migrate', 'anybody']],
    ['get types:virtualmachineclusterpreferences', ['admin', 'edit', 'view', 'migrate', 'anybody']],
    ['watch types:virtualmachineinstancetypes', ['admin', 'edit', 'view']],
    ['create types:virtualmachinepreferences', ['admin', 'edit']],
    ['deletecollection types:virtualmachinepreferences', ['admin']],
    ['list kubevirt:kubevirts', ['admin', 'edit', 'view', 'migrate', 'anybody']],
    ['patch kubevirt:kubevirts', []],
    ['patch kubevirt:virtualmachines/status', []],
    ['update sub:virtualmachines/start', ['admin', 'edit']],
    ['update sub:virtualmachines/evacuate/cancel', ['admin', 'edit']],
    ['update sub:virtualmachines/migrate', ['migrate']],
    ['get sub:virtualmachines/portforward', ['admin', 'edit']],
    ['get sub:virtualmachineinstances/console', ['admin', 'edit']],
    ['get sub:virtualmachineinstances/vnc', ['admin', 'edit']],
    ['get sub:virtualmachineinstances/vnc/screenshot', ['admin']],
    ['update sub:virtualmachineinstances/pause', ['admin', 'edit']],
    ['get sub:virtualmachineinstances/guestosinfo', ['admin', 'edit', 'view']],
    ['update sub:expand-vm-spec', ['admin', 'edit', 'view']],
    ['get sub:version', ['admin', 'edit', 'view', 'migrate', 'anybody']],
  ])('%s: %j', async (deed, expected) => {
    const allowed: string[] = [];
    for (const user of ['admin', 'edit', 'view', 'migrate', 'anybody']) if (await may(user, deed)) allowed.push(user);
    expect(allowed).toEqual(expected);
  });
});

describe('a node worker, even with too powerful a role,', () => {
  const patch = (metadata: object, name = 'node-1') => node.mergePatch('Node', { name }, { metadata });

  beforeAll(async () => {
    await admin.mergePatch(
      'Node',
      { name: 'node-1' },
      { metadata: { labels: { rack: 'r1' }, annotations: { a: 'b' } } },
    );
  });

  test('beats its heart on its own Node', async () => {
    const metadata = {
      labels: { 'kubevirt.io/schedulable': 'true', 'cpu-model.node.kubevirt.io/Haswell': 'true', cpumanager: 'false' },
      annotations: { 'kubevirt.io/heartbeat': '2026-01-01T00:00:00Z' },
    };
    expect((await patch(metadata)).metadata).toMatchObject(metadata);
  });

  test.each([
    ['another Node', () => patch({ labels: { 'kubevirt.io/schedulable': 'true' } }, 'node-2'), /its own Node only/],
    ['a label of others', () => patch({ labels: { rack: 'r2' } }), /labels of kubevirt.io only/],
    ['a label away', () => patch({ labels: { rack: null } }), /labels of kubevirt.io only/],
    ['an annotation of others', () => patch({ annotations: { a: 'c' } }), /annotations of kubevirt.io only/],
    ['its own fence', () => patch({ annotations: { 'virtflow.io/fenced': '{}' } }), /annotations of kubevirt.io only/],
    ['a finalizer', () => patch({ finalizers: ['a.test/b'] }), /neither finalizers nor owners/],
    [
      'a taint',
      () => node.mergePatch('Node', { name: 'node-1' }, { spec: { unschedulable: true } }),
      /labels and annotations of its Node only/,
    ],
    [
      'a Node away',
      () => onNode.send({ method: 'DELETE', path: '/api/v1/nodes/node-2' }),
      /nothing else: not DELETE \/nodes/,
    ],
    [
      'a VMI',
      () =>
        node.create('VirtualMachineInstance', {
          ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
          ...{ metadata: { namespace: 'virtflow', name: 'a' }, spec: { domain: { devices: {} } } },
        }),
      /not CREATE kubevirt.io\/virtualmachineinstances/,
    ],
    [
      'a run token',
      () =>
        node.create('Lease', {
          ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
          metadata: { namespace: 'virtflow', name: 'virtflow-a' },
        }),
      /not CREATE coordination.k8s.io\/leases/,
    ],
    ['a Pod', () => onNode.send({ method: 'DELETE', path: OWN_POD }), /not DELETE \/pods/],
    [
      'the status of a Pod',
      () =>
        node.mergePatch(
          'Pod',
          { namespace: 'virtflow', name: 'virtflow-node-node-1' },
          { status: {} },
          { subresource: 'status' },
        ),
      /not UPDATE \/pods\/status/,
    ],
    [
      'a command into a container',
      () =>
        onNode.send({
          ...{ method: 'POST', path: `${OWN_POD}/exec` },
          query: { command: 'true' },
        }),
      /not CONNECT \/pods\/exec/,
    ],
  ])('does not write %s', async (_, attempt, message) => {
    expect(await refused(attempt)).toMatch(message);
  });

  test('asks who it is', async () => {
    const question = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    await expect(onNode.send({ method: 'POST', path, body: question })).resolves.toMatchObject({
      status: { userInfo: { username: 'system:serviceaccount:virtflow:virtflow-node' } },
    });
  });
});
