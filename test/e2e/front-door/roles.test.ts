import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import { apply, kubectl, kubectlError } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { guestSpec } from '../support/vms.ts';

jest.setTimeout(180_000);

/** What users with Kubernetes' own roles may do with VMs, by impersonation. */
const NAMESPACE = 'virtflow-roles';
const ROLES = ['view', 'edit', 'admin'] as const;

const as = (user: string): string[] => [`--as=${user}`, '-n', NAMESPACE];
/** Asks the API server, as the subresources' server does: kubectl's own `can-i` knows no subresource without a resource. */
const may = async (user: string, verb: string, group: string, resource: string, subresource = ''): Promise<boolean> => {
  const review = {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
    spec: { user, resourceAttributes: { namespace: NAMESPACE, verb, group, resource, subresource } },
  };
  return (await kubectl(['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'], stringify(review))) === 'true';
};
const vm = (name: string) => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, namespace: NAMESPACE } },
  spec: { runStrategy: 'Halted', template: { spec: guestSpec() } },
});

const bind = (role: string, name = role): Promise<string> =>
  apply({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name, namespace: NAMESPACE } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  for (const role of ROLES) await bind(role);
  await bind('kubevirt.io:migrate', 'migrate');
  await apply(vm('seen'));
});
afterAll(() => emptyNamespace(NAMESPACE));

describe('a user who may only view', () => {
  test('sees VMs', async () => {
    expect(await kubectl(['get', 'vm', '-o', 'name', ...as('view')])).toContain('virtualmachine.kubevirt.io/seen');
    for (const kind of ['vmi', 'vmim', 'vmirs']) expect(await kubectlError(['get', kind, ...as('view')])).toBe('');
  });

  test.each([
    ['create', () => kubectlError(['create', '-f', '-', ...as('view')], stringify(vm('other')))],
    ['change', () => kubectlError(['label', 'vm', 'seen', 'a=b', ...as('view')])],
    ['start', () => kubectlError(['patch', 'vm', 'seen', '--type=merge', '-p', ALWAYS, ...as('view')])],
    ['delete', () => kubectlError(['delete', 'vm', 'seen', '--wait=false', ...as('view')])],
  ])('does not %s them', async (_, attempt) => {
    expect(await attempt()).toMatch(/forbidden/i);
  });
});

const ALWAYS = JSON.stringify({ spec: { runStrategy: 'Always' } });

test('who may edit makes, changes and deletes VMs, who may administrate all of them at once', async () => {
  await kubectl(['create', '-f', '-', ...as('edit')], stringify(vm('made')));
  await kubectl(['label', 'vm', 'made', 'a=b', ...as('edit')]);
  await kubectl(['delete', 'vm', 'made', ...as('edit')]);
  expect(await may('edit', 'deletecollection', 'kubevirt.io', 'virtualmachines')).toBe(false);
  expect(await may('admin', 'deletecollection', 'kubevirt.io', 'virtualmachines')).toBe(true);
});

test.each([
  ['get', 'virtualmachineinstances', 'guestosinfo', ['view', 'edit', 'admin']],
  ['update', 'virtualmachines', 'start', ['edit', 'admin']],
  ['get', 'virtualmachineinstances', 'console', ['edit', 'admin']],
  ['update', 'virtualmachines', 'migrate', ['migrate']],
])('%s %s/%s: %j', async (verb, resource, subresource, expected) => {
  const allowed: string[] = [];
  for (const user of [...ROLES, 'migrate'])
    if (await may(user, verb, 'subresources.kubevirt.io', resource, subresource)) allowed.push(user);
  expect(allowed).toEqual(expected);
});

test('to migrate is a right of its own', async () => {
  const migration = stringify({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceMigration' },
    ...{ metadata: { generateName: 'move-', namespace: NAMESPACE }, spec: { vmiName: 'seen' } },
  });
  expect(await kubectlError(['create', '-f', '-', ...as('admin')], migration)).toMatch(/forbidden/i);
  // There is no such VMI: the request gets past RBAC, and admission answers.
  expect(await kubectlError(['create', '-f', '-', ...as('migrate')], migration)).not.toMatch(/forbidden: User/i);
});
