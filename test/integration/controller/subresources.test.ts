import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { parseAllDocuments } from 'yaml';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { restOf } from '../../../activities/kube/rest.ts';
import type { GuestCall, GuestRef } from '../../../api/contract/guest-access.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { issue, newAuthority } from '../../../workers/controller/certificates/issue.ts';
import type { GuestAccess, GuestAnswer } from '../../../workers/controller/guest-access/port.ts';
import { GuestAccessError } from '../../../workers/controller/guest-access/port.ts';
import { openFrontDoor } from '../../../workers/controller/https/front-door.ts';
import { watchFrontProxy } from '../../../workers/controller/subresources/front-proxy.ts';
import { subresourceMounts } from '../../../workers/controller/subresources/index.ts';
import type { Authority } from '../../../workers/controller/certificates/rotation.ts';
import { exportKey, newKeyPair, PublicKey } from '../../../workers/shared/certificates/x509.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { configured } from '../../support/instances.ts';
import { until } from '../../support/until.ts';
import { collected, ended, opened, refusal } from '../../support/virtctl/sockets.ts';
import type { Virtctl } from '../../support/virtctl/index.ts';
import { virtctl } from '../../support/virtctl/index.ts';

/**
 * The aggregated API behind a real API server, which authenticates users, forwards their requests with its front proxy's certificate, and is asked what
 * they may do. The guests are this test's own; neither a leader nor Temporal is there.
 */
const SYSTEM = 'virtflow';
const NAMESPACE = 'shop';
const DAY = 86_400_000;
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
const stop = new AbortController();

let directory: string;
let api: TestApiServer;
let admin: KubePort;
let port: number;
let client: Virtctl;

const deployed = async (file: string): Promise<object[]> => {
  const text = await readFile(join(import.meta.dirname, '../../../deploy/base', file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJSON() as object);
};

const PLURALS: Record<string, string> = {
  ...{ Namespace: 'namespaces', Service: 'services', Secret: 'secrets', ConfigMap: 'configmaps' },
  ...{ ClusterRole: 'clusterroles', ClusterRoleBinding: 'clusterrolebindings', APIService: 'apiservices' },
  ...{ RoleBinding: 'rolebindings', Role: 'roles', ServiceAccount: 'serviceaccounts' },
};

const create = async (object: object): Promise<void> => {
  const { apiVersion, kind, metadata } = object as {
    apiVersion: string;
    kind: string;
    metadata: { namespace?: string };
  };
  const plural = PLURALS[kind];
  if (plural === undefined) return;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  await api.rest.send({ method: 'POST', path: `${root}${scope}/${plural}`, body: object });
};

/** What the guests were asked for, and what they answer. */
const asked: { guest: GuestRef; call: GuestCall; body: unknown; query: unknown }[] = [];
let answer: () => GuestAnswer = () => ({ status: 200 });
let openStream: (stream: string, params: Record<string, string>) => Promise<Duplex> = () =>
  Promise.reject(new GuestAccessError(502, 'no guest here'));
const guests: GuestAccess = {
  call: (guest, call, body, query) => {
    asked.push({ guest, call, body, query });
    return Promise.resolve().then(answer);
  },
  open: (_, stream, params) => openStream(stream, params),
};

let frontProxyAuthority: Authority;

/** A client's certificate, of the front proxy's authority if of no other. */
const certificate = async (name: string, authority = frontProxyAuthority): Promise<{ cert: string; key: string }> => {
  const keys = await newKeyPair();
  const subject = {
    ...{ commonName: name, alternativeNames: [{ type: 'dns' as const, value: name }] },
    ...{ usages: ['client auth'] as const, publicKey: await PublicKey.create(keys.publicKey) },
  };
  return { cert: await issue(authority, subject, Date.now(), DAY), key: await exportKey(keys.privateKey) };
};

/** The API server's flags for its aggregation layer, with an authority of its own. */
const aggregationFlags = async (): Promise<string[]> => {
  frontProxyAuthority = await newAuthority(Date.now(), DAY);
  const { cert, key } = await certificate('front-proxy-client');
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  return [
    `--requestheader-client-ca-file=${await file('front-proxy-ca.crt', frontProxyAuthority.certificate)}`,
    `--proxy-client-cert-file=${await file('front-proxy.crt', cert)}`,
    `--proxy-client-key-file=${await file('front-proxy.key', key)}`,
    ...['--requestheader-allowed-names=front-proxy-client', '--requestheader-username-headers=X-Remote-User'],
    ...['--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-'],
  ];
};

const apiService = (version: string): Promise<unknown> =>
  api.rest.send({
    method: 'GET',
    path: `/apis/apiregistration.k8s.io/v1/apiservices/${version}.subresources.kubevirt.io`,
  });

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  return free;
};

/** As the controller's service account, with the rights of deploy/base and no others. */
const asController = () => {
  const config = api.kubeConfig();
  const server = `https://127.0.0.1:${api.port}`;
  config.loadFromClusterAndUser(
    { name: 'test', server, skipTLSVerify: true },
    { name: 'admin', token: 'test-admin', impersonateUser: `system:serviceaccount:${SYSTEM}:virtflow-controller` },
  );
  return restOf(config);
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'virtflow-subresources-'));
  api = await startApiServer(await aggregationFlags());
  admin = kubeClient(api.rest);
  for (const name of [SYSTEM, NAMESPACE]) await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const file of ['certificates.yaml', 'controller-access.yaml', 'user-roles.yaml', 'webhooks.yaml']) {
    for (const object of await deployed(file))
      if ((object as { kind: string }).kind !== 'Service') await create(object);
  }
  port = await freePort();
  await create({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: SYSTEM, name: 'virtflow-api' } },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] },
  });
  for (const object of await deployed('subresources.yaml')) {
    const { spec } = object as { spec?: { service?: { port: number } } };
    if (spec?.service !== undefined) spec.service.port = port;
    await create(object);
  }
  const rest = asController();
  const frontProxy = watchFrontProxy(rest, log, stop.signal);
  const ports = { rest, kube: kubeClient(rest), log };
  const mounts = subresourceMounts({
    ...ports,
    ...{ guests, config: () => configured(), frontProxy: () => frontProxy.config(), signal: stop.signal },
  });
  openFrontDoor({
    ...ports,
    ...{ namespace: SYSTEM, port, mounts, clientCas: frontProxy, signal: stop.signal },
    durations: { authorityMs: 365 * DAY, certificateMs: DAY, trustDelayMs: DAY },
  });
  client = virtctl(api.kubeConfig(), { namespace: NAMESPACE });
  await until('the group is served', async () => (await client.version()).status === 200, {
    timeoutMs: 90_000,
    seen: () => apiService('v1'),
  });
});

afterAll(async () => {
  stop.abort();
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

let number = 0;

/** A VM with its own name, and its instance in a phase if one is given. */
const given = async (
  spec: Partial<VirtualMachine['spec']>,
  status?: VirtualMachineInstance['status'],
  instanceSpec: Partial<VirtualMachineInstance['spec']> = {},
): Promise<string> => {
  const name = `vm-${(number += 1)}`;
  const vm = await admin.create('VirtualMachine', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: NAMESPACE, name } },
    spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
  });
  if (status === undefined) return name;
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: vm.metadata?.uid ?? '' };
  await admin.create('VirtualMachineInstance', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
    metadata: { namespace: NAMESPACE, name, ownerReferences: [{ ...owner, controller: true }] },
    spec: { domain: { devices: {} }, ...instanceSpec },
    status,
  });
  return name;
};

const RUNNING: VirtualMachineInstance['status'] = {
  ...{ phase: 'Running', nodeName: 'node-a', activePods: { 'pod-uid': 'node-a' } },
  interfaces: [{ name: 'default', ipAddress: '10.0.0.7' }],
};

const vmNow = async (name: string) => (await admin.get('VirtualMachine', { namespace: NAMESPACE, name }))!;
const vmiNow = async (name: string) => (await admin.get('VirtualMachineInstance', { namespace: NAMESPACE, name }))!;

describe('what API servers and clients look for', () => {
  test('APIServices are available in both versions, trusted by the authorities that the controller published', async () => {
    for (const version of ['v1', 'v1alpha3']) {
      const { spec, status } = (await apiService(version)) as {
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
    const index = await client.send('GET', '/openapi/v3');
    expect(Object.keys(index.json['paths'] as object)).toContain('apis/subresources.kubevirt.io/v1');
    const document = await client.send('GET', '/openapi/v3/apis/subresources.kubevirt.io/v1');
    expect(document.json).toMatchObject({ openapi: '3.0.0' });
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/start';
    await until('OpenAPI 2 has it', async () => {
      const { json } = await client.send('GET', '/openapi/v2');
      return path in (json['paths'] as object);
    });
  });

  test('health tells of the API server', async () => {
    const { status, json } = await client.send('GET', '/apis/subresources.kubevirt.io/v1/healthz');
    expect({ status, json }).toMatchObject({ status: 200, json: { apiserver: { connectivity: 'ok' } } });
  });
});

describe('who may', () => {
  const as = (user: string, ...groups: string[]): Virtctl =>
    virtctl(api.kubeConfig(), { namespace: NAMESPACE, as: { user, groups: ['system:authenticated', ...groups] } });
  const bind = (user: string, role: string): Promise<void> =>
    create({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      metadata: { namespace: NAMESPACE, name: `${user}-${role.replace(':', '-')}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });

  test('nobody without rights; a viewer may look and change nothing; an editor may do both', async () => {
    await bind('viewer', 'kubevirt.io:view');
    await bind('editor', 'kubevirt.io:edit');
    const name = await given(
      { runStrategy: 'Halted' },
      { ...RUNNING, conditions: [{ type: 'AgentConnected', status: 'True' }] },
    );
    expect((await as('nobody').start(name)).status).toBe(403);
    const refused = await as('viewer').start(name);
    expect(refused).toMatchObject({ status: 403, json: { kind: 'Status', reason: 'Forbidden' } });
    answer = () => ({ status: 200, body: { hostname: 'web' } });
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
    expect(await directly(path, { headers, ...(await certificate('someone-else')) })).toMatchObject(nobody);
    expect(await directly(path, { headers, ...(await certificate('front-proxy-client')) })).toMatchObject({
      status: 404,
    });
    const impostor = await newAuthority(Date.now(), DAY);
    const forged = await certificate('front-proxy-client', impostor);
    expect(await directly(path, { headers, ...forged })).toMatchObject(nobody);
  });
});

describe('requests become changes of objects', () => {
  test('start and stop of a VM, in both versions of the API', async () => {
    const name = await given({ runStrategy: 'Halted' });
    expect((await client.start(name, {})).status).toBe(202);
    expect((await vmNow(name)).spec.runStrategy).toBe('Always');
    expect((await client.start(name, {})).json).toMatchObject({
      ...{ code: 409, reason: 'Conflict', details: { name, group: 'kubevirt.io', kind: 'virtualmachine' } },
      message: `Operation cannot be fulfilled on virtualmachine.kubevirt.io "${name}": Always does not support manual start requests`,
    });
    const older = virtctl(api.kubeConfig(), { namespace: NAMESPACE, version: 'v1alpha3' });
    expect((await older.stop(name)).status).toBe(202);
    expect((await vmNow(name)).spec.runStrategy).toBe('Halted');
  });

  test('a restart is one list of two requests, and the next one waits until it is empty', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const uid = (await vmiNow(name)).metadata?.uid;
    expect((await client.restart(name, {})).status).toBe(202);
    expect((await vmNow(name)).status?.stateChangeRequests).toEqual([{ action: 'Stop', uid }, { action: 'Start' }]);
    expect((await client.restart(name, {})).json).toMatchObject({ code: 409, message: /already underway$/ });
  });

  test('requests join the list that a status has already, and end the back-off', async () => {
    const name = await given({ runStrategy: 'Manual' });
    const status = { created: false, startFailure: { consecutiveFailCount: 2 } };
    await admin.mergePatch('VirtualMachine', { namespace: NAMESPACE, name }, { status }, { subresource: 'status' });
    expect((await client.start(name, { paused: true })).status).toBe(202);
    expect((await vmNow(name)).status).toEqual({
      created: false,
      stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
    });
  });

  test('a forced restart shortens the grace period first, a refused one leaves it', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.restart(name, { gracePeriodSeconds: 0 })).status).toBe(202);
    expect((await vmiNow(name)).spec.terminationGracePeriodSeconds).toBe(1);
    const other = await given({ runStrategy: 'Halted' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.stop(other, { gracePeriod: 900 })).status).toBe(409);
    expect((await vmiNow(other)).spec.terminationGracePeriodSeconds).toBe(600);
    expect((await client.stop(other, { gracePeriod: 0 })).status).toBe(202);
    expect((await vmiNow(other)).spec.terminationGracePeriodSeconds).toBe(0);
  });

  test('a dry run changes nothing, in the body as in the query', async () => {
    const name = await given({ runStrategy: 'Halted' }, undefined);
    expect((await client.start(name, { dryRun: ['All'] })).status).toBe(202);
    expect((await client.start(name, {}, { dryRun: 'All' })).status).toBe(202);
    expect((await vmNow(name)).spec.runStrategy).toBe('Halted');
    const running = await given({ runStrategy: 'Always' }, RUNNING, { terminationGracePeriodSeconds: 600 });
    expect((await client.restart(running, { gracePeriodSeconds: 0, dryRun: ['All'] })).status).toBe(202);
    expect((await client.migrate(running, { dryRun: ['All'] })).status).toBe(202);
    expect((await vmiNow(running)).spec.terminationGracePeriodSeconds).toBe(600);
    expect((await vmNow(running)).status?.stateChangeRequests).toBeUndefined();
    expect(await admin.list('VirtualMachineInstanceMigration', { namespace: NAMESPACE })).toEqual([]);
  });

  test('a migration is an object', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    expect((await client.migrate(name, { addedNodeSelector: { zone: 'a' } })).status).toBe(202);
    const [migration] = await admin.list('VirtualMachineInstanceMigration', { namespace: NAMESPACE });
    expect(migration).toMatchObject({
      metadata: { generateName: 'kubevirt-migrate-vm-' },
      spec: { vmiName: name, addedNodeSelector: { zone: 'a' } },
    });
  });

  test('an evacuation is taken back', async () => {
    const name = await given({ runStrategy: 'Always' }, { ...RUNNING, evacuationNodeName: 'node-a' });
    const wrong = await client.evacuateCancel(name, { evacuationNodeName: 'node-b' });
    expect(wrong.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect((await client.evacuateCancel(name, { evacuationNodeName: 'node-a' })).status).toBe(200);
    expect((await vmiNow(name)).status?.evacuationNodeName).toBeUndefined();
  });

  test('two at once: each is written or says that it was too late', async () => {
    const name = await given({ runStrategy: 'Manual' }, RUNNING);
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.restart(name, {})));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array.from({ length: 7 }, () => 409)]);
    expect((await vmNow(name)).status?.stateChangeRequests).toHaveLength(2);
  });

  test('expansion gives the VM as it is, or as it was sent', async () => {
    const name = await given({ runStrategy: 'Halted' });
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
    const name = await given({ runStrategy: 'Halted' });
    expect((await client.start(name, body)).json).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect((await vmNow(name)).spec.runStrategy).toBe('Halted');
  });

  test('YAML is taken, as KubeVirt does', async () => {
    const name = await given({ runStrategy: 'Manual' });
    expect((await client.start(name, 'paused: true\n')).status).toBe(202);
    expect((await vmNow(name)).status?.stateChangeRequests).toEqual([{ action: 'Start', data: { paused: 'true' } }]);
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
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const { metadata } = await vmiNow(name);
    answer = () => ({ status: 200 });
    asked.length = 0;
    expect((await client.pause(name, {})).status).toBe(200);
    expect((await client.freeze(name, { unfreezeTimeout: '5m0s' })).status).toBe(200);
    expect((await client.pause(name, { dryRun: ['All'] })).status).toBe(200);
    const guest = { namespace: NAMESPACE, name, vmiUid: metadata?.uid, podUid: 'pod-uid', node: 'node-a' };
    expect(asked).toEqual([
      { guest, call: 'pause', body: undefined, query: undefined },
      { guest, call: 'freeze', body: { unfreezeTimeout: '5m0s' }, query: undefined },
    ]);
  });

  test('answers with objects and pictures', async () => {
    const conditions = [{ type: 'AgentConnected', status: 'True' }];
    const name = await given({ runStrategy: 'Always' }, { ...RUNNING, conditions });
    answer = () => ({ status: 200, body: { kind: 'VirtualMachineInstanceGuestOSUserList', items: [] } });
    expect((await client.userList(name)).json).toEqual({ kind: 'VirtualMachineInstanceGuestOSUserList', items: [] });
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    answer = () => ({ status: 200, bytes: picture, contentType: 'image/png' });
    expect(await client.screenshot(name)).toMatchObject({ contentType: 'image/png', body: picture });
  });

  test('refuses in words and codes that reach the user; an error of ours does not', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    answer = () => {
      throw new GuestAccessError(409, 'the guest is being migrated');
    };
    expect((await client.pause(name)).json).toMatchObject({
      ...{ kind: 'Status', code: 409, reason: 'Conflict', message: 'the guest is being migrated' },
    });
    answer = () => {
      throw new Error('secret');
    };
    const { status, body } = await client.pause(name);
    expect(status).toBe(500);
    expect(body.toString()).not.toContain('secret');
  });

  test('is not asked in the wrong state', async () => {
    const name = await given({ runStrategy: 'Always' }, { ...RUNNING, phase: 'Scheduling' });
    asked.length = 0;
    expect((await client.pause(name)).json).toMatchObject({ code: 409, message: /VM is not running$/ });
    expect((await client.guestOsInfo(name)).json).toMatchObject({ code: 409 });
    expect((await refusal(await client.console(name))).json).toMatchObject({
      code: 400,
      message: 'VMI is not running',
    });
    expect(asked).toEqual([]);
  });
});

describe('streams', () => {
  let server: Server | undefined;
  const sockets: Socket[] = [];

  /** A guest's end of streams over a real socket. */
  const listen = async (serve: (socket: Socket) => void): Promise<void> => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      serve(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: at } = server.address() as AddressInfo;
    openStream = async () => {
      const socket = connect({ port: at, host: '127.0.0.1', allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    };
  };

  afterEach(() => {
    server?.close();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  test('bytes go both ways, whatever they are, under the protocol that virtctl asks for', async () => {
    await listen((socket) => socket.pipe(socket));
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const socket = await opened(await client.console(name));
    expect(socket.protocol).toBe('plain.kubevirt.io');
    const seen = collected(socket);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    socket.send(bytes);
    await until('the echo is here', () => seen.bytes().equals(bytes));
    const guestSide = sockets[0]!;
    socket.close(1000);
    await ended(socket);
    await until('the guest’s side is closed', () => guestSide.destroyed || guestSide.readableEnded);
  });

  test('a port is told to the guest, of a VM as of its instance', async () => {
    const seen: unknown[] = [];
    openStream = (stream, params) => {
      seen.push([stream, params]);
      return Promise.reject(new GuestAccessError(502, 'nobody listens there'));
    };
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    expect(await refusal(await client.portForward(name, 22))).toMatchObject({
      ...{ status: 502, json: { message: 'nobody listens there' } },
    });
    await refusal(await client.portForward(name, 53, 'udp', 'virtualmachineinstances'));
    await refusal(await client.vnc(name, { preserveSession: 'true' }));
    expect(seen).toEqual([
      ['portforward', { port: '22', protocol: 'tcp' }],
      ['portforward', { port: '53', protocol: 'udp' }],
      ['vnc', { preserveSession: 'true' }],
    ]);
    const stopped = await given({ runStrategy: 'Halted' });
    expect((await refusal(await client.portForward(stopped, 22))).status).toBe(409);
  });

  test('what the guest said last is all heard, and then that it has ended', async () => {
    const last = Buffer.alloc(3_000_000, 'x');
    await listen((socket) => socket.end(last));
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const socket = await opened(await client.portForward(name, 80));
    const seen = collected(socket);
    expect(await ended(socket)).toEqual({ code: 1000, reason: '' });
    expect(seen.bytes().equals(last)).toBe(true);
  });

  test('what a client said before it left reaches the guest', async () => {
    const received: Buffer[] = [];
    await listen((socket) => socket.on('data', (chunk: Buffer) => received.push(chunk)));
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const socket = await opened(await client.portForward(name, 80));
    for (let index = 0; index < 40; index += 1) socket.send(Buffer.alloc(50_000, 'y'));
    socket.close(1000);
    await until('all is here', () => Buffer.concat(received).length === 2_000_000);
  });

  test('a guest that breaks off is told from one that ends', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const guest = new PassThrough();
    openStream = () => Promise.resolve(guest);
    const socket = await opened(await client.console(name));
    guest.destroy(new Error('the node is gone'));
    expect(await ended(socket)).toEqual({ code: 1011, reason: 'the node is gone' });
  });

  test('a client that does not read stops the guest, and a guest that does not read its client', async () => {
    const chunk = Buffer.alloc(65_536, 'z');
    let guestSide: Socket | undefined;
    let written = 0;
    await listen((socket) => {
      guestSide = socket;
      socket.pause();
      const pour = (): void => {
        while (written < 200_000_000 && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', pour);
      pour();
    });
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const socket = await opened(await client.portForward(name, 80));
    socket.pause();
    const stalled = await settled(() => written);
    expect(stalled).toBeLessThan(64_000_000);
    let sent = 0;
    for (let index = 0; index < 1_000; index += 1) socket.send(chunk, () => (sent += chunk.length));
    expect(await settled(() => sent)).toBeLessThan(60_000_000);
    socket.resume();
    guestSide?.resume();
    await until('the guest goes on', () => written > stalled + 1_000_000);
    socket.terminate();
  });

  test('fifty at once do not mix', async () => {
    await listen((socket) => socket.pipe(socket));
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const echoes = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const socket = await opened(await client.portForward(name, 80));
        const seen = collected(socket);
        const word = Buffer.from(`stream ${index}`);
        socket.send(word);
        await until(`${word.toString()} is back`, () => seen.bytes().equals(word));
        socket.close(1000);
        return (await ended(socket)).code;
      }),
    );
    expect(new Set(echoes)).toEqual(new Set([1000]));
  });

  test('a client that vanishes while its guest is reached leaves no stream behind', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const guest = new PassThrough();
    const reached = Promise.withResolvers<Duplex>();
    const asking = Promise.withResolvers<void>();
    openStream = () => {
      asking.resolve();
      return reached.promise;
    };
    const socket = await client.console(name);
    socket.on('error', () => undefined);
    await asking.promise;
    socket.terminate();
    reached.resolve(guest);
    await until('the stream is given up', () => guest.destroyed);
  });

  test('without WebSocket there is no stream, and a question is none', async () => {
    const name = await given({ runStrategy: 'Always' }, RUNNING);
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachineinstances/${name}/console`;
    expect((await client.send('GET', path)).json).toMatchObject({ code: 400, message: /WebSocket/ });
  });
});

/** A request past the API server, straight to the front door. */
const directly = (path: string, options: RequestOptions): Promise<{ status: number; json: unknown }> =>
  new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port, path, method: 'PUT', rejectUnauthorized: false, agent: false };
    const sent = request({ ...at, ...options }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, json: JSON.parse(body) }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });

/** A number that has stopped growing. */
const settled = async (read: () => number): Promise<number> => {
  let before = -1;
  return until(
    'it stands still',
    () => {
      const now = read();
      if (now === before && now > 0) return now;
      before = now;
      return undefined;
    },
    { everyMs: 400 },
  );
};
