import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newAuthority } from '../../../workers/controller/certificates/issue.ts';
import { GuestAccessError } from '../../../workers/controller/guest-access/port.ts';
import type { AggregatedWorld } from '../../support/aggregated-world.ts';
import { DAY_MS, NAMESPACE, RUNNING, startAggregatedWorld } from '../../support/aggregated-world.ts';
import { until } from '../../support/until.ts';
import { refusal } from '../../support/virtctl/sockets.ts';
import type { Virtctl } from '../../support/virtctl/index.ts';

let world: AggregatedWorld;
let client: Virtctl;

beforeAll(async () => {
  world = await startAggregatedWorld();
  client = world.client();
});
afterAll(() => world.close());

describe('what API servers and clients look for', () => {
  test('APIServices are available in both versions, trusted by the authorities that the controller published', async () => {
    for (const version of ['v1', 'v1alpha3']) {
      const { spec, status } = (await world.apiService(version)) as {
        spec: { caBundle: string };
        status: { conditions: { type: string; status: string }[] };
      };
      expect(spec.caBundle).toBeTruthy();
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
    }
  });

  test.each(['v1', 'v1alpha3'] as const)('the resources of %s are listed', async (version) => {
    const list = await client.send('GET', `/apis/subresources.kubevirt.io/${version}`);
    expect(list.json).toMatchObject({ kind: 'APIResourceList', groupVersion: `subresources.kubevirt.io/${version}` });
    expect(list.json['resources']).toContainEqual(
      expect.objectContaining({ name: 'virtualmachines/start', namespaced: true, verbs: ['update'] }),
    );
  });

  test('virtctl learns the version as it asks for it', async () => {
    const group = await client.send('GET', '/apis/subresources.kubevirt.io');
    const { groupVersion } = group.json['preferredVersion'] as { groupVersion: string };
    const { json } = await client.send('GET', `/apis/${groupVersion}/version`);
    expect(json['gitVersion']).toMatch(/^v1\.8\.0\+virtflow\./);
  });

  test('the API server merges our OpenAPI documents into its own', async () => {
    const isListed = async (): Promise<boolean> => {
      const { json } = await client.send('GET', '/openapi/v3');
      return 'apis/subresources.kubevirt.io/v1' in (json['paths'] as object);
    };
    await until('OpenAPI 3 has it', isListed, { everyMs: 200 });
    const document = await client.send('GET', '/openapi/v3/apis/subresources.kubevirt.io/v1');
    expect(document.json).toMatchObject({ openapi: '3.0.0' });
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/start';
    await until(
      'OpenAPI 2 has it',
      async () => {
        const { json } = await client.send('GET', '/openapi/v2');
        return path in (json['paths'] as object);
      },
      { everyMs: 200 },
    );
  });

  test('health tells of the API server', async () => {
    const { status, json } = await client.send('GET', '/apis/subresources.kubevirt.io/v1/healthz');
    expect({ status, json }).toMatchObject({ status: 200, json: { apiserver: { connectivity: 'ok' } } });
  });
});

describe('who may', () => {
  const as = (user: string, ...groups: string[]): Virtctl =>
    world.client({ as: { user, groups: ['system:authenticated', ...groups] } });
  const bind = (user: string, role: string): Promise<void> =>
    world.create({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      metadata: { namespace: NAMESPACE, name: `${user}-${role.replace(':', '-')}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });

  test('nobody without rights; a viewer may look and change nothing; an editor may do both', async () => {
    await bind('viewer', 'kubevirt.io:view');
    await bind('editor', 'kubevirt.io:edit');
    const name = await world.given(
      { runStrategy: 'Halted' },
      { ...RUNNING, conditions: [{ type: 'AgentConnected', status: 'True' }] },
    );
    expect((await as('nobody').start(name)).status).toBe(403);
    const refused = await as('viewer').start(name);
    expect(refused).toMatchObject({ status: 403, json: { kind: 'Status', reason: 'Forbidden' } });
    world.guests.answer = () => ({ status: 200, body: { hostname: 'web' } });
    expect((await as('viewer').guestOsInfo(name)).json).toEqual({ hostname: 'web' });
    expect((await refusal(await as('viewer').console(name))).status).toBe(403);
    expect((await as('editor').start(name)).status).toBe(202);
    expect((await as('editor').evacuateCancel(name)).status).toBe(200);
    expect((await as('editor').version()).status).toBe(200);
  });

  test('who comes without the front proxy is nobody, whatever its headers say', async () => {
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachines/missing/start`;
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
    const nobody = { status: 401, json: { kind: 'Status', reason: 'Unauthorized', code: 401 } };
    expect(await directly(path, { headers })).toMatchObject(nobody);
    expect(await directly(path, { headers, ...(await world.certificate('someone-else')) })).toMatchObject(nobody);
    expect(await directly(path, { headers, ...(await world.certificate('front-proxy-client')) })).toMatchObject({
      status: 404,
    });
    const impostor = await newAuthority(Date.now(), DAY_MS);
    const forged = await world.certificate('front-proxy-client', impostor);
    expect(await directly(path, { headers, ...forged })).toMatchObject(nobody);
  });
});

describe('requests become changes of objects', () => {
  test('start and stop of a VM, in both versions of the API', async () => {
    const name = await world.given({ runStrategy: 'Halted' });
    expect((await client.start(name, {})).status).toBe(202);
    expect((await world.vm(name)).spec.runStrategy).toBe('Always');
    expect((await client.start(name, {})).json).toMatchObject({
      ...{ code: 409, reason: 'Conflict', details: { name, group: 'kubevirt.io', kind: 'virtualmachine' } },
      message: `Operation cannot be fulfilled on virtualmachine.kubevirt.io "${name}": Always does not support manual start requests`,
    });
    const older = world.client({ version: 'v1alpha3' });
    expect((await older.stop(name)).status).toBe(202);
    expect((await world.vm(name)).spec.runStrategy).toBe('Halted');
  });

  test('a restart is one list of two requests, and the next one waits until it is empty', async () => {
    const name = await world.given({ runStrategy: 'Always' }, RUNNING);
    const uid = (await world.vmi(name)).metadata?.uid;
    expect((await client.restart(name, {})).status).toBe(202);
    expect((await world.vm(name)).status?.stateChangeRequests).toEqual([{ action: 'Stop', uid }, { action: 'Start' }]);
    expect((await client.restart(name, {})).json).toMatchObject({ code: 409, message: /already underway$/ });
  });

  test('requests join the list that a status has already, and end the back-off', async () => {
    const name = await world.given({ runStrategy: 'Manual' });
    const status = { created: false, startFailure: { consecutiveFailCount: 2 } };
    await world.admin.mergePatch(
      'VirtualMachine',
      { namespace: NAMESPACE, name },
      { status },
      { subresource: 'status' },
    );
    expect((await client.start(name, { paused: true })).status).toBe(202);
    expect((await world.vm(name)).status).toEqual({
      created: false,
      stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
    });
  });

  test('a forced restart shortens the grace period first, a refused one leaves it', async () => {
    const name = await world.given({ runStrategy: 'Always' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.restart(name, { gracePeriodSeconds: 0 })).status).toBe(202);
    expect((await world.vmi(name)).spec.terminationGracePeriodSeconds).toBe(1);
    const other = await world.given({ runStrategy: 'Halted' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.stop(other, { gracePeriod: 900 })).status).toBe(409);
    expect((await world.vmi(other)).spec.terminationGracePeriodSeconds).toBe(600);
    expect((await client.stop(other, { gracePeriod: 0 })).status).toBe(202);
    expect((await world.vmi(other)).spec.terminationGracePeriodSeconds).toBe(0);
  });

  test('a dry run changes nothing, in the body as in the query', async () => {
    const name = await world.given({ runStrategy: 'Halted' }, undefined);
    expect((await client.start(name, { dryRun: ['All'] })).status).toBe(202);
    expect((await client.start(name, {}, { dryRun: 'All' })).status).toBe(202);
    expect((await world.vm(name)).spec.runStrategy).toBe('Halted');
    const running = await world.given({ runStrategy: 'Always' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.restart(running, { gracePeriodSeconds: 0, dryRun: ['All'] })).status).toBe(202);
    expect((await client.migrate(running, { dryRun: ['All'] })).status).toBe(202);
    expect((await world.vmi(running)).spec.terminationGracePeriodSeconds).toBe(600);
    expect((await world.vm(running)).status?.stateChangeRequests).toBeUndefined();
    expect(await world.admin.list('VirtualMachineInstanceMigration', { namespace: NAMESPACE })).toEqual([]);
  });

  test('a migration is an object', async () => {
    const name = await world.given({ runStrategy: 'Always' }, RUNNING);
    expect((await client.migrate(name, { addedNodeSelector: { zone: 'a' } })).status).toBe(202);
    const [migration] = await world.admin.list('VirtualMachineInstanceMigration', { namespace: NAMESPACE });
    expect(migration).toMatchObject({
      metadata: { generateName: 'kubevirt-migrate-vm-' },
      spec: { vmiName: name, addedNodeSelector: { zone: 'a' } },
    });
  });

  test('an evacuation is taken back', async () => {
    const name = await world.given({ runStrategy: 'Always' }, { ...RUNNING, evacuationNodeName: 'node-a' });
    const wrong = await client.evacuateCancel(name, { evacuationNodeName: 'node-b' });
    expect(wrong.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect((await client.evacuateCancel(name, { evacuationNodeName: 'node-a' })).status).toBe(200);
    expect((await world.vmi(name)).status?.evacuationNodeName).toBeUndefined();
  });

  test('two at once: each is written or says that it was too late', async () => {
    const name = await world.given({ runStrategy: 'Manual' }, RUNNING);
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.restart(name, {})));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array.from({ length: 7 }, () => 409)]);
    expect((await world.vm(name)).status?.stateChangeRequests).toHaveLength(2);
  });

  test('expansion gives the VM as it is, or as it was sent', async () => {
    const name = await world.given({ runStrategy: 'Halted' });
    expect((await client.expand(name)).json).toMatchObject({ kind: 'VirtualMachine', metadata: { name } });
    const manifest = {
      metadata: { name: 'new' },
      spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    };
    expect((await client.expandManifest(manifest)).json).toMatchObject({
      metadata: { name: 'new', namespace: NAMESPACE },
    });
    expect((await client.expandManifest(manifest, 'text/plain')).json).toMatchObject({ code: 415 });
  });
});

describe('expansion of what a VM refers to', () => {
  const template = { spec: { domain: { devices: {} } } };
  const manifest = (instancetype: object, more: object = {}) => ({
    metadata: { name: 'new' },
    spec: { runStrategy: 'Halted', instancetype, template, ...more },
  });
  beforeAll(() =>
    world.create({
      ...{ apiVersion: 'instancetype.kubevirt.io/v1beta1', kind: 'VirtualMachineInstancetype' },
      metadata: { namespace: NAMESPACE, name: 'small' },
      spec: { cpu: { guest: 2 }, memory: { guest: '64Mi' } },
    }),
  );
  const small = { name: 'small', kind: 'VirtualMachineInstancetype' };
  const said = { domain: { cpu: { sockets: 2 }, memory: { guest: '64Mi' } } };

  test('gives a VM that says it itself', async () => {
    const name = await world.given({ runStrategy: 'Halted', instancetype: small, template });
    const { spec } = (await client.expand(name)).json as { spec: object };
    expect(spec).toMatchObject({ template: { spec: said } });
    expect(spec).not.toHaveProperty('instancetype');
    expect((await client.expandManifest(manifest(small))).json).toMatchObject({ spec: { template: { spec: said } } });
  });

  test('says what is missing, and what contradicts it', async () => {
    expect((await client.expandManifest(manifest({ name: 'none' }))).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('VirtualMachineClusterInstancetype none'),
    });
    const cores = { spec: { domain: { devices: {}, cpu: { cores: 2 } } } };
    expect((await client.expandManifest(manifest(small, { template: cores }))).json).toMatchObject({
      code: 400,
      details: { causes: [{ field: 'spec.template.spec.domain.cpu.cores' }] },
    });
  });
});

describe('bad input', () => {
  test.each`
    what                       | body                                    | code
    ${'no JSON'}               | ${'{"paused": '}                        | ${400}
    ${'no object'}             | ${'[]'}                                 | ${400}
    ${'a wrong type'}          | ${'{"paused": "yes"}'}                  | ${400}
    ${'an unknown directive'}  | ${'{"dryRun": ["Some"]}'}               | ${422}
    ${'aliases that multiply'} | ${'a: &a [x]\nb: [*a, *a]\npaused: *a'} | ${400}
    ${'too much'}              | ${`{"x": "${'x'.repeat(1_100_000)}"}`}  | ${413}
    ${'far too much'}          | ${`{"x": "${'x'.repeat(5_000_000)}"}`}  | ${413}
  `('$what: $code', async ({ body, code }) => {
    const name = await world.given({ runStrategy: 'Halted' });
    expect((await client.start(name, body)).json).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect((await world.vm(name)).spec.runStrategy).toBe('Halted');
  });

  test('YAML is taken, as KubeVirt does', async () => {
    const name = await world.given({ runStrategy: 'Manual' });
    expect((await client.start(name, 'paused: true\n')).status).toBe(202);
    expect((await world.vm(name)).status?.stateChangeRequests).toEqual([{ action: 'Start', data: { paused: 'true' } }]);
  });

  test('objects, subresources and methods that are not there', async () => {
    const base = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachines`;
    expect((await client.start('missing')).json).toMatchObject({
      ...{ code: 404, reason: 'NotFound', message: 'virtualmachine.kubevirt.io "missing" not found' },
    });
    expect((await client.pause('missing')).json).toMatchObject({ code: 404 });
    expect((await client.send('PUT', `${base}/missing/nonsense`)).json).toMatchObject({ code: 404 });
    expect((await client.send('POST', `${base}/missing/start`)).json).toMatchObject({ code: 405 });
    expect((await client.addVolume('missing', { name: 'disk' })).json).toMatchObject({
      ...{ code: 501, reason: 'NotImplemented' },
    });
    expect((await refusal(await client.console('missing'))).status).toBe(404);
  });
});

describe('the guest', () => {
  test('is asked by way of its node, with what the request carries', async () => {
    const name = await world.given({ runStrategy: 'Always' }, RUNNING);
    const { metadata } = await world.vmi(name);
    world.guests.answer = () => ({ status: 200 });
    world.guests.asked.length = 0;
    expect((await client.pause(name, {})).status).toBe(200);
    expect((await client.freeze(name, { unfreezeTimeout: '5m0s' })).status).toBe(200);
    expect((await client.pause(name, { dryRun: ['All'] })).status).toBe(200);
    const guest = { namespace: NAMESPACE, name, vmiUid: metadata?.uid, podUid: 'pod-uid', node: 'node-a' };
    expect(world.guests.asked).toEqual([
      { guest, call: 'pause', body: undefined, query: undefined },
      { guest, call: 'freeze', body: { unfreezeTimeout: '5m0s' }, query: undefined },
    ]);
  });

  test('that was asked to reboot shows so in the events of its instance', async () => {
    const conditions = [{ type: 'AgentConnected', status: 'True' }];
    const name = await world.given({ runStrategy: 'Always' }, { ...RUNNING, conditions });
    world.guests.answer = () => ({ status: 200 });
    expect((await client.softReboot(name, {})).status).toBe(200);
    const path = `/api/v1/namespaces/${NAMESPACE}/events`;
    const query = { fieldSelector: `involvedObject.name=${name}` };
    const { items } = (await world.api.rest.send({ method: 'GET', path, query })) as { items: object[] };
    expect(items).toMatchObject([{ reason: 'SoftRebooted', involvedObject: { kind: 'VirtualMachineInstance' } }]);
  });

  test('answers with objects and pictures', async () => {
    const conditions = [{ type: 'AgentConnected', status: 'True' }];
    const name = await world.given({ runStrategy: 'Always' }, { ...RUNNING, conditions });
    world.guests.answer = () => ({ status: 200, body: { kind: 'VirtualMachineInstanceGuestOSUserList', items: [] } });
    expect((await client.userList(name)).json).toEqual({ kind: 'VirtualMachineInstanceGuestOSUserList', items: [] });
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    world.guests.answer = () => ({ status: 200, bytes: picture, contentType: 'image/png' });
    expect(await client.screenshot(name)).toMatchObject({ contentType: 'image/png', body: picture });
  });

  test('refuses in words and codes that reach the user; an error of ours does not', async () => {
    const name = await world.given({ runStrategy: 'Always' }, RUNNING);
    world.guests.answer = () => {
      throw new GuestAccessError(409, 'the guest is being migrated');
    };
    expect((await client.pause(name)).json).toMatchObject({
      ...{ kind: 'Status', code: 409, reason: 'Conflict', message: 'the guest is being migrated' },
    });
    world.guests.answer = () => {
      throw new Error('secret');
    };
    const { status, body } = await client.pause(name);
    expect(status).toBe(500);
    expect(body.toString()).not.toContain('secret');
  });

  test('is not asked in the wrong state', async () => {
    const name = await world.given({ runStrategy: 'Always' }, { ...RUNNING, phase: 'Scheduling' });
    world.guests.asked.length = 0;
    expect((await client.pause(name)).json).toMatchObject({ code: 409, message: /VM is not running$/ });
    expect((await client.guestOsInfo(name)).json).toMatchObject({ code: 409 });
    expect((await refusal(await client.console(name))).json).toMatchObject({
      code: 400,
      message: 'VMI is not running',
    });
    expect(world.guests.asked).toEqual([]);
  });
});

/** A request past the API server, straight to the front door. */
const directly = (path: string, options: RequestOptions): Promise<{ status: number; json: unknown }> =>
  new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port: world.port, path, method: 'PUT', rejectUnauthorized: false, agent: false };
    const sent = request({ ...at, ...options }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, json: JSON.parse(body) }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
