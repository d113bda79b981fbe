import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { collected, ended, opened, refusal } from '../../support/virtctl/sockets.ts';
import type { Virtctl } from '../../support/virtctl/index.ts';
import { virtctl } from '../../support/virtctl/index.ts';
import { apply, getObject, kubectl, kubectlError } from '../support/kubectl.ts';
import { killProcess, startProcess } from '../support/local-cluster.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { condition, guestSpec, isAgentConnected, untilObject } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-subresources';
const RAW = '/apis/subresources.kubevirt.io/v1';

const config = new KubeConfig();
config.loadFromDefault();
const client = virtctl(config, { namespace: NAMESPACE });

const vmOf = (name: string): Promise<VirtualMachine | undefined> => getObject('vm', name, NAMESPACE);
const vmiOf = (name: string): Promise<VirtualMachineInstance | undefined> => getObject('vmi', name, NAMESPACE);

const createVm = (name: string, runStrategy: string): Promise<string> =>
  apply({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, namespace: NAMESPACE } },
    spec: { runStrategy, template: { spec: guestSpec({ network: true }) } },
  });

const untilInstance = (
  what: string,
  name: string,
  holds: (vmi: VirtualMachineInstance) => boolean,
): Promise<VirtualMachineInstance> => untilObject(`VMI ${name}: ${what}`, () => vmiOf(name), holds, 240_000);
const untilRunning = (name: string): Promise<VirtualMachineInstance> =>
  untilInstance('Running', name, ({ status }) => status?.phase === 'Running');
const untilGone = (name: string): Promise<boolean> =>
  until(`VMI ${name} is gone`, async () => (await vmiOf(name)) === undefined, { timeoutMs: 120_000, everyMs: 500 });

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
});
afterAll(() => emptyNamespace(NAMESPACE));

test('kubectl finds the group, its resources and the version', async () => {
  const list = JSON.parse(await kubectl(['get', '--raw', RAW])) as { resources: { name: string }[] };
  expect(list.resources.map(({ name }) => name)).toContain('virtualmachines/start');
  expect(JSON.parse(await kubectl(['get', '--raw', `${RAW}/version`]))).toHaveProperty('gitVersion');
  expect(JSON.parse(await kubectl(['get', '--raw', `${RAW}/healthz`]))).toMatchObject({
    apiserver: { connectivity: 'ok' },
  });
  expect(await kubectlError(['api-resources'])).toBe('');
  const services = await kubectl([
    'get',
    'apiservice',
    '-o',
    'custom-columns=:.metadata.name,:.status.conditions[0].status',
  ]);
  expect(services).toMatch(/^v1\.subresources\.kubevirt\.io +True$/m);
  expect(services).toMatch(/^v1alpha3\.subresources\.kubevirt\.io +True$/m);
});

describe('a guest’s life', () => {
  const name = 'life';

  test('start, and start again', async () => {
    await createVm(name, 'Halted');
    expect((await client.start(name, { dryRun: ['All'] })).status).toBe(202);
    expect((await vmOf(name))?.spec.runStrategy).toBe('Halted');
    expect((await client.start(name, {})).status).toBe(202);
    await untilInstance('agent connected', name, isAgentConnected);
    expect((await client.start(name, {})).json).toMatchObject({ code: 409, message: /VM is already running$/ });
  });

  test('the guest’s agent answers', async () => {
    expect((await client.guestOsInfo(name)).json).toMatchObject({ os: expect.anything() as unknown });
    expect((await client.userList(name)).status).toBe(200);
    expect((await client.filesystemList(name)).status).toBe(200);
  });

  test('pause and unpause', async () => {
    expect((await client.unpause(name, {})).json).toMatchObject({ code: 409, message: /VMI is not paused$/ });
    expect((await client.pause(name, {})).status).toBe(200);
    await untilInstance('Paused', name, (vmi) => condition(vmi, 'Paused')?.status === 'True');
    expect((await client.pause(name, {})).json).toMatchObject({ code: 409, message: /VMI is already paused$/ });
    expect((await refusal(await client.portForward(name, 22))).status).toBe(409);
    expect((await client.unpause(name, {})).status).toBe(200);
    await untilInstance('not Paused', name, (vmi) => condition(vmi, 'Paused')?.status !== 'True');
  });

  test('the console is at hand, for one at a time', async () => {
    const first = await opened(await client.console(name));
    const seen = collected(first);
    first.send('\n');
    await until('the guest says something', () => seen.bytes().length > 0, { timeoutMs: 60_000 });
    const firstEnd = ended(first);
    const second = await opened(await client.console(name));
    expect((await firstEnd).code).toBe(1000);
    second.close(1000);
  });

  test('a port where nobody listens is refused, and one that is none', async () => {
    expect((await refusal(await client.portForward(name, 9))).status).toBeGreaterThanOrEqual(400);
    expect((await refusal(await client.portForward(name, 70_000))).status).toBe(400);
    expect((await client.screenshot(name)).json).toMatchObject({
      code: 400,
      message: 'No graphics devices are present.',
    });
  });

  test('restart gives another instance, and its console ends with the old one', async () => {
    const before = (await vmiOf(name))?.metadata?.uid;
    const watching = ended(await opened(await client.console(name)));
    expect((await client.restart(name, {})).status).toBe(202);
    await untilInstance(
      'another one runs',
      name,
      ({ metadata, status }) => metadata?.uid !== before && status?.phase === 'Running',
    );
    expect((await watching).code).toBe(1000);
    await until(
      'the requests are settled',
      async () => ((await vmOf(name))?.status?.stateChangeRequests ?? []).length === 0,
      {
        everyMs: 500,
      },
    );
  });

  test('stop, at once if it is forced', async () => {
    expect((await client.stop(name, { gracePeriod: 0 })).status).toBe(202);
    await untilGone(name);
    expect((await vmOf(name))?.spec.runStrategy).toBe('Halted');
    expect((await client.stop(name, {})).json).toMatchObject({ code: 409, message: /VM is not running$/ });
    expect((await client.restart(name, {})).status).toBe(409);
    expect((await refusal(await client.console(name))).status).toBe(404);
  });
});

test('a VM that is run by hand: started paused, stopped, and started again while it stops', async () => {
  await createVm('by-hand', 'Manual');
  expect((await client.start('by-hand', { paused: true })).status).toBe(202);
  const first = await untilInstance(
    'Paused',
    'by-hand',
    (vmi) => vmi.status?.phase === 'Running' && condition(vmi, 'Paused')?.status === 'True',
  );
  expect((await client.unpause('by-hand', {})).status).toBe(200);
  await untilInstance('agent connected', 'by-hand', isAgentConnected);
  expect((await client.stop('by-hand', {})).status).toBe(202);
  expect((await client.start('by-hand', {})).status).toBe(202);
  await untilInstance(
    'another one runs',
    'by-hand',
    ({ metadata, status }) => metadata?.uid !== first.metadata?.uid && status?.phase === 'Running',
  );
  expect((await vmOf('by-hand'))?.spec.runStrategy).toBe('Manual');
});

describe('who may not', () => {
  const as = (user: string): Virtctl =>
    virtctl(config, { namespace: NAMESPACE, as: { user, groups: ['system:authenticated'] } });

  test('a user who may only view starts, stops and opens nothing', async () => {
    await createVm('guarded', 'Halted');
    await apply({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      metadata: { name: 'viewer', namespace: NAMESPACE },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    });
    const viewer = as('viewer');
    await until('the role is in force', async () => (await viewer.expand('guarded')).status === 200, { everyMs: 200 });
    for (const reply of [
      await viewer.start('guarded', {}),
      await viewer.stop('guarded', {}),
      await viewer.restart('guarded', {}),
      await viewer.migrate('guarded', {}),
      await viewer.pause('guarded', {}),
    ]) {
      expect(reply.json).toMatchObject({ kind: 'Status', code: 403, reason: 'Forbidden' });
    }
    expect((await refusal(await viewer.console('guarded'))).status).toBe(403);
    expect((await vmOf('guarded'))?.spec.runStrategy).toBe('Halted');
    expect((await as('nobody').expand('guarded')).status).toBe(403);
    expect((await as('nobody').version()).status).toBe(200);
  });
});

test('bad requests are refused with a reason, and nothing comes of them', async () => {
  await createVm('untouched', 'Halted');
  // Not the status as a whole: the VM has only just been created.
  const asked = async (): Promise<unknown> => {
    const vm = await vmOf('untouched');
    return [vm?.metadata?.uid, vm?.metadata?.generation, vm?.spec, vm?.status?.stateChangeRequests];
  };
  const before = await asked();
  const codes = [
    [await client.start('untouched', '{"paused": '), 400],
    [await client.start('untouched', '{"paused": 7}'), 400],
    [await client.start('untouched', '{"dryRun": ["Some"]}'), 422],
    [await client.start('untouched', `{"x": "${'x'.repeat(2_000_000)}"}`), 413],
    [await client.restart('untouched', { gracePeriodSeconds: 5 }), 400],
    [await client.addVolume('untouched', { name: 'disk' }), 501],
    [await client.migrate('untouched', {}), 404],
    [await client.start('missing', {}), 404],
    [await client.pause('missing', {}), 404],
    [await client.send('PUT', `${RAW}/namespaces/${NAMESPACE}/virtualmachines/untouched/nonsense`), 404],
    [await client.send('POST', `${RAW}/namespaces/${NAMESPACE}/virtualmachines/untouched/start`), 405],
  ] as const;
  for (const [{ json }, code] of codes) expect(json).toMatchObject({ kind: 'Status', status: 'Failure', code });
  expect(await asked()).toEqual(before);
});

test('with Temporal down VMs are started and stopped by their users, and carried out when it is back', async () => {
  await createVm('outage', 'Halted');
  await killProcess('temporal');
  try {
    expect((await client.start('outage', {})).status).toBe(202);
    expect((await vmOf('outage'))?.spec.runStrategy).toBe('Always');
    expect((await client.stop('outage', {})).status).toBe(202);
    expect((await client.start('outage', {})).status).toBe(202);
    expect(await vmiOf('outage')).toBeUndefined();
  } finally {
    await startProcess('temporal');
  }
  await untilRunning('outage');
});
