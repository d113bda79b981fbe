import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { parseAllDocuments } from 'yaml';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { KubeError } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import { restOf } from '../../../activities/kube/rest.ts';
import { AUTHORITY_SECRET, BUNDLE_CONFIG_MAP } from '../../../api/contract/certificates.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { ownCredentials } from '../../../workers/controller/certificates/credentials.ts';
import type { OwnCredentials } from '../../../workers/controller/certificates/credentials.ts';
import { serveHttps } from '../../../workers/controller/https/server.ts';
import type { AdmissionPorts } from '../../../workers/controller/webhooks/index.ts';
import { admission } from '../../../workers/controller/webhooks/index.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { configured } from '../../support/instances.ts';
import { until } from '../../support/until.ts';

/** The webhooks of deploy/base as a real API server calls them: its match conditions, patches and answers. Neither a leader nor Temporal is there. */
const NAMESPACE = 'shop';
const SYSTEM = 'virtflow';
const HOST = 'localhost';
const DAY = 86_400_000;
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

let api: TestApiServer;
let admin: KubePort;
/** As the controller's service account. */
let controller: KubePort;
let credentials: OwnCredentials;
const stop = new AbortController();
let config = configured();
let cached: AdmissionPorts['cached'];

const as = (user: string): Rest => {
  const config = api.kubeConfig();
  config.loadFromClusterAndUser(
    { name: 'test', server: `https://127.0.0.1:${api.port}`, skipTLSVerify: true },
    { name: 'admin', token: 'test-admin', impersonateUser: user },
  );
  const rest = restOf(config);
  return rest;
};

interface Configuration {
  apiVersion: string;
  kind: string;
  webhooks: { clientConfig: { service?: { path: string }; url?: string; caBundle?: string } }[];
}

/** deploy/base/webhooks.yaml, with the front door of this test. */
const register = async (port: number): Promise<void> => {
  const file = await readFile(join(import.meta.dirname, '../../../deploy/base/webhooks.yaml'), 'utf8');
  const configurations = parseAllDocuments(file)
    .map((document) => document.toJSON() as Configuration)
    .filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  expect(configurations).toHaveLength(2);
  for (const body of configurations) {
    for (const { clientConfig } of body.webhooks) {
      clientConfig.url = `https://${HOST}:${port}${clientConfig.service?.path}`;
      clientConfig.caBundle = Buffer.from(credentials.current()?.ca ?? '').toString('base64');
      delete clientConfig.service;
    }
    const path = `/apis/admissionregistration.k8s.io/v1/${body.kind.toLowerCase()}s`;
    await api.rest.send({ method: 'POST', path, body });
  }
};

const vmi = (name: string, spec: object = {}): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: NAMESPACE },
  spec: { domain: { memory: { guest: '64Mi' }, devices: {} }, ...spec },
});

const vm = (name: string, spec: object = {}): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, namespace: NAMESPACE },
  spec: { runStrategy: 'Halted', template: { spec: vmi(name).spec }, ...spec },
});

const vmim = (name: string, vmiName: string, spec: object = {}): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name, namespace: NAMESPACE },
  spec: { vmiName, ...spec },
});

interface Refusal {
  status: number;
  reason: string;
  message: string;
}
const refusal = async (act: Promise<unknown>): Promise<Refusal> => {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof KubeError)) throw new Error(`it was not refused: ${String(error)}`);
  return { status: error.status, reason: error.reason, message: error.message };
};

const post = (object: object, plural: string, rest = api.rest, query: Record<string, string> = {}): Promise<unknown> =>
  rest.send({ method: 'POST', path: `/apis/kubevirt.io/v1/namespaces/${NAMESPACE}/${plural}`, body: object, query });

beforeAll(async () => {
  api = await startApiServer();
  admin = kubeClient(api.rest);
  for (const name of [NAMESPACE, SYSTEM])
    await admin.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const metadata = (name: string) => ({ namespace: SYSTEM, name });
  await admin.create('Secret', { apiVersion: 'v1', kind: 'Secret', metadata: metadata(AUTHORITY_SECRET) });
  await admin.create('ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(BUNDLE_CONFIG_MAP) });
  await api.rest.send({
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'test' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'virtflow-controller', namespace: SYSTEM }],
    },
  });
  controller = kubeClient(as(`system:serviceaccount:${SYSTEM}:virtflow-controller`));
  credentials = ownCredentials({
    ...{ kube: admin, namespace: SYSTEM, log, signal: stop.signal, clock: Date.now, passMs: 200 },
    durations: { authorityMs: 365 * DAY, certificateMs: DAY, trustDelayMs: DAY },
    subject: { commonName: HOST, alternativeNames: [{ type: 'dns', value: HOST }], usages: ['server auth'] },
  });
  const ports: AdmissionPorts = {
    ...{ kube: controller, namespace: SYSTEM, clock: () => new Date(), config: () => config },
    cached: {
      instance: (...name) => cached.instance(...name),
      migrations: (namespace) => cached.migrations(namespace),
    },
  };
  const server = await serveHttps({
    ...{
      port: 0,
      credentials,
      mounts: admission(ports, { log, register: new Registry() }),
      log,
      signal: stop.signal,
      drainMs: 0,
    },
  });
  await register(server.port);
  // A configuration holds a moment after it was stored.
  await until(
    'admission is asked',
    async () => {
      const answer = await refusal(post({ ...vmi('probe'), spec: { domain: {} } }, 'virtualmachineinstances')).catch(
        () => undefined,
      );
      await admin.get('VirtualMachineInstance', { namespace: NAMESPACE, name: 'probe' }).then((found) =>
        found === undefined
          ? undefined
          : admin.remove('VirtualMachineInstance', found.metadata as { name: string }, {
              uid: found.metadata?.uid ?? '',
            }),
      );
      return answer?.message.includes('devices');
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
}, 120_000);

beforeEach(() => {
  config = configured();
  cached = { instance: () => undefined, migrations: () => [] };
});

afterAll(async () => {
  stop.abort();
  await credentials.done;
  await api.close();
});

describe('VirtualMachineInstance', () => {
  test('one that says little is stored with all that KubeVirt would fill in, pending', async () => {
    const user = { ...vmi('plain'), status: { phase: 'Running', nodeName: 'mine' } };
    const stored = await admin.create('VirtualMachineInstance', user);
    expect(stored.metadata?.finalizers).toEqual(['kubevirt.io/foregroundDeleteVirtualMachine']);
    expect(stored.spec).toMatchObject({
      architecture: 'amd64',
      domain: { machine: { type: 'q35' }, cpu: { sockets: 1, cores: 1, threads: 1, model: 'host-model' } },
      networks: [{ name: 'default', pod: {} }],
    });
    expect(stored.spec.domain.firmware?.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored.status).toMatchObject({ phase: 'Pending', runtimeUser: 107 });
    expect(stored.status?.nodeName).toBeUndefined();
  });

  test('what is wrong with one is told all at once, each with its field', async () => {
    const bad = vmi('bad', {
      domain: { devices: { disks: [{ name: 'lost', disk: { bus: 'floppy' } }] }, memory: { guest: '1' } },
      terminationGracePeriodSeconds: -1,
    });
    const { status, reason, message } = await refusal(admin.create('VirtualMachineInstance', bad));
    expect({ status, reason }).toEqual({ status: 422, reason: 'Invalid' });
    for (const field of ['devices.disks[0]', 'memory.guest', 'terminationGracePeriodSeconds'])
      expect(message).toContain(field);
  });

  test('a field of a wrong type is named', async () => {
    const bad = vmi('bad', { domain: { devices: {}, cpu: 'many' } });
    const { status, message } = await refusal(admin.create('VirtualMachineInstance', bad));
    expect(status).toBe(422);
    expect(message).toContain('spec.domain.cpu');
  });

  test('its spec stands, its status is not a user’s, its labels are, but for reserved ones', async () => {
    const name = { namespace: NAMESPACE, name: 'standing' };
    await admin.create('VirtualMachineInstance', vmi('standing'));
    const change = (patch: object, kube = admin) => kube.mergePatch('VirtualMachineInstance', name, patch);
    const spec = await refusal(change({ spec: { terminationGracePeriodSeconds: 5 } }));
    expect(spec).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(spec.message).toContain('spec');
    const labels = await refusal(change({ metadata: { labels: { 'kubevirt.io/nodeName': 'n1' } } }));
    expect(labels.message).toContain('metadata.labels');
    expect((await change({ metadata: { labels: { app: 'web' } } })).metadata?.labels).toEqual({ app: 'web' });
    expect((await change({ status: { phase: 'Succeeded' } })).status?.phase).toBe('Pending');
    const own = await change(
      { status: { phase: 'Scheduling' }, spec: { terminationGracePeriodSeconds: 5 } },
      controller,
    );
    expect([own.status?.phase, own.spec.terminationGracePeriodSeconds]).toEqual(['Scheduling', 5]);
  });
});

describe('VirtualMachine', () => {
  test('what a start must not choose anew is settled once, also when its manifest is replaced', async () => {
    const stored = await admin.create('VirtualMachine', vm('web'));
    const { firmware } = stored.spec.template.spec?.domain ?? {};
    expect(firmware?.uuid).toMatch(/^[0-9a-f-]{36}$/);
    const again = vm('web', { runStrategy: 'Always' });
    again.metadata = { ...again.metadata, resourceVersion: stored.metadata?.resourceVersion ?? '' };
    const replaced = await admin.replace('VirtualMachine', again);
    expect(replaced.spec.runStrategy).toBe('Always');
    expect(replaced.spec.template.spec?.domain.firmware).toEqual(firmware);
  });

  test.each([
    ['both run strategies', { running: true, runStrategy: 'Always' }, 'spec.running'],
    ['an unknown run strategy', { runStrategy: 'Sometimes' }, 'spec.runStrategy'],
    [
      'a template with a disk without volume',
      { template: { spec: { domain: { devices: { disks: [{ name: 'x' }] } } } } },
      'spec.template.spec.domain.devices.disks[0]',
    ],
  ])('one with %s is refused', async (_, spec, field) => {
    const { status, message } = await refusal(admin.create('VirtualMachine', vm('bad', spec)));
    expect(status).toBe(422);
    expect(message).toContain(field);
  });

  test('one that was stored while nobody looked keeps what it has, can be deleted and corrected, not made worse', async () => {
    const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/virtflow';
    const before = (await api.rest.send({ method: 'GET', path: hooks })) as { metadata: object };
    await api.rest.send({ method: 'DELETE', path: hooks });
    const name = { namespace: NAMESPACE, name: 'old' };
    await until(
      'it is stored',
      () =>
        admin.create('VirtualMachine', vm('old', { runStrategy: 'Sometimes' })).then(
          () => true,
          () => false,
        ),
      { everyMs: 100 },
    );
    await api.rest.send({
      method: 'POST',
      path: hooks.replace('/virtflow', ''),
      body: { ...before, metadata: { name: 'virtflow' } },
    });
    await until(
      'admission is asked again',
      async () =>
        (
          await refusal(
            post(vm('never', { runStrategy: 'Sometimes' }), 'virtualmachines', api.rest, { dryRun: 'All' }),
          ).catch(() => undefined)
        )?.status === 422,
      { everyMs: 100 },
    );
    const change = (patch: object) => admin.mergePatch('VirtualMachine', name, patch);
    await change({ metadata: { finalizers: ['x.test/y'], labels: { app: 'old' } } });
    await refusal(change({ spec: { template: { metadata: { labels: { a: 'b' } } } } }));
    await change({ spec: { runStrategy: 'Manual' } });
    const { metadata } = await change({ spec: { runStrategy: 'Halted' } });
    await admin.remove('VirtualMachine', name, { uid: metadata?.uid ?? '' });
    await change({ metadata: { finalizers: [] } });
    expect(await admin.get('VirtualMachine', name)).toBeUndefined();
  });
});

describe('VirtualMachineInstanceMigration', () => {
  const running = async (name: string, status: object = {}): Promise<VirtualMachineInstance> => {
    await admin.create('VirtualMachineInstance', vmi(name));
    return controller.mergePatch(
      'VirtualMachineInstance',
      { namespace: NAMESPACE, name },
      { status: { phase: 'Running', nodeName: 'n1', ...status } },
    );
  };
  const create = (object: object): Promise<unknown> => post(object, 'virtualmachineinstancemigrations');

  test('one of a VMI that runs is stored with the label by which virtctl finds it', async () => {
    await running('moves');
    const stored = (await create(vmim('move', 'moves'))) as { metadata: { labels: object; finalizers: string[] } };
    expect(stored.metadata.labels).toEqual({ 'kubevirt.io/vmi-name': 'moves' });
    expect(stored.metadata.finalizers).toEqual(['kubevirt.io/migrationJobFinalize']);
    const second = await refusal(create(vmim('second', 'moves')));
    expect(second.message).toContain('"move"');
  });

  test('a cache that is behind refuses nobody', async () => {
    await running('fresh');
    const stale = vmim('stale', 'fresh') as never;
    cached = { instance: () => undefined, migrations: () => [stale] };
    await create(vmim('fresh', 'fresh'));
  });

  test.each([
    ['nobody', {}, 'there is no VMI "nobody"'],
    ['over', { phase: 'Failed' }, 'is over'],
    [
      'bound',
      { conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: 'local' }] },
      'cannot move: DisksNotLiveMigratable',
    ],
  ])('one of a VMI that cannot move is refused: %s', async (name, status, says) => {
    if (name !== 'nobody') await running(name, status);
    const { status: code, message } = await refusal(create(vmim(`of-${name}`, name)));
    expect(code).toBe(422);
    expect(message).toContain('spec.vmiName');
    expect(message).toContain(says);
  });

  test('its priority is not a user’s, and its label stays while it is under way', async () => {
    await running('ranked');
    expect((await refusal(create(vmim('urgent', 'ranked', { priority: 'system-critical' })))).message).toContain(
      'priority',
    );
    await create(vmim('usual', 'ranked'));
    const path = `/apis/kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachineinstancemigrations/usual`;
    const body = { metadata: { labels: { 'kubevirt.io/vmi-name': 'other' } } };
    const patch = { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' } as const;
    expect((await refusal(api.rest.send(patch))).message).toContain('metadata.labels');
  });
});

describe('what else is judged', () => {
  const send = (group: string, plural: string, body: object, namespace = '', query: Record<string, string> = {}) =>
    api.rest.send({ method: 'POST', path: `/apis/${group}/${namespace}${plural}`, body, query });

  test('a replica set that would not find its VMIs', async () => {
    const { spec } = vmi('x');
    const body = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceReplicaSet',
      metadata: { name: 'web', namespace: NAMESPACE },
      spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'db' } }, spec } },
    };
    const { status, message } = await refusal(post(body, 'virtualmachineinstancereplicasets'));
    expect(status).toBe(422);
    expect(message).toContain('spec.selector');
    body.spec.template.metadata.labels.app = 'web';
    await post(body, 'virtualmachineinstancereplicasets');
  });

  test('a migration policy that no migration can have', async () => {
    const group = 'migrations.kubevirt.io/v1alpha1';
    const policy = { apiVersion: group, kind: 'MigrationPolicy', metadata: { name: 'slow' } };
    const bad = { ...policy, spec: { selectors: {}, completionTimeoutPerGiB: -1 } };
    const { status, message } = await refusal(send(group, 'migrationpolicies', bad));
    expect(status).toBe(422);
    expect(message).toContain('completionTimeoutPerGiB');
    await send(group, 'migrationpolicies', { ...policy, spec: { selectors: {}, bandwidthPerMigration: '1Mi' } });
  });

  test('an instance type that no VM can have, a preference likewise, and what of a VM contradicts them', async () => {
    const group = 'instancetype.kubevirt.io/v1beta1';
    const metadata = { name: 'small' };
    const type = { apiVersion: group, kind: 'VirtualMachineClusterInstancetype', metadata };
    const given = { cpu: { guest: 2 }, memory: { guest: '64Mi' } };
    const plural = 'virtualmachineclusterinstancetypes';
    const pages = { ...given, memory: { ...given.memory, overcommitPercent: 10, hugepages: { pageSize: '2Mi' } } };
    const refused = await refusal(send(group, plural, { ...type, spec: pages }));
    expect(refused).toMatchObject({ status: 422, message: expect.stringContaining('spec.memory.overcommitPercent') });
    await send(group, plural, { ...type, spec: given });
    const preference = {
      apiVersion: group,
      kind: 'VirtualMachinePreference',
      metadata: { ...metadata, namespace: NAMESPACE },
    };
    const rings = { cpu: { preferredCPUTopology: 'rings' } };
    const path = `namespaces/${NAMESPACE}/`;
    expect(await refusal(send(group, 'virtualmachinepreferences', { ...preference, spec: rings }, path))).toMatchObject(
      {
        status: 422,
        message: expect.stringContaining('spec.cpu.preferredCPUTopology'),
      },
    );
    const instancetype = { name: 'small' };
    const { message } = await refusal(post(vm('contradicts', { instancetype }), 'virtualmachines'));
    expect(message).toContain('spec.template.spec.domain.memory.guest');
    const template = { spec: { domain: { devices: {} } } };
    await post(vm('fits', { instancetype, template }), 'virtualmachines');
    await post(vm('early', { instancetype: { name: 'none' }, template }), 'virtualmachines');
  });

  test('a configuration that cannot be read, and a second one', async () => {
    const group = 'kubevirt.io/v1';
    const create = (name: string, configuration: object) => {
      const metadata = { name, namespace: SYSTEM };
      return send(
        group,
        'kubevirts',
        { apiVersion: group, kind: 'KubeVirt', metadata, spec: { configuration } },
        `namespaces/${SYSTEM}/`,
      );
    };
    const profile = { seccompConfiguration: { virtualMachineInstanceProfile: {} } };
    const bad = await refusal(create('kubevirt', { additionalGuestMemoryOverheadRatio: 'much', ...profile }));
    expect(bad.status).toBe(422);
    for (const field of ['additionalGuestMemoryOverheadRatio', 'customProfile']) expect(bad.message).toContain(field);
    await create('kubevirt', {});
    expect((await refusal(create('another', {}))).message).toContain(`${SYSTEM}/kubevirt`);
    const name = { namespace: SYSTEM, name: 'kubevirt' };
    const { message } = await refusal(admin.mergePatch('KubeVirt', name, { spec: { configuration: profile } }));
    expect(message).toContain('customProfile');
  });

  test('requests in the status of a VM, not what virtflow itself writes there', async () => {
    await admin.create('VirtualMachine', vm('asked'));
    const name = { namespace: NAMESPACE, name: 'asked' };
    const change = (status: object, kube = admin) =>
      kube.mergePatch('VirtualMachine', name, { status }, { subresource: 'status' });
    const removal = { removeVolumeOptions: { name: 'data' } };
    const { status, message } = await refusal(
      change({ volumeRequests: [{}, removal, removal], stateChangeRequests: [{ action: 'Jump' }] }),
    );
    expect(status).toBe(422);
    for (const field of ['Status.volumeRequests', 'stateChangeRequests[0].action']) expect(message).toContain(field);
    await change({ stateChangeRequests: [{ action: 'Start' }] });
    await change({ stateChangeRequests: [{ action: 'Jump' }] }, controller);
  });
});

describe('eviction of a launcher Pod', () => {
  /** A VMI that runs in a Pod. */
  const guest = async (name: string, strategy: string | undefined, status: object = {}): Promise<string> => {
    const spec = strategy === undefined ? {} : { evictionStrategy: strategy };
    const { metadata } = await admin.create('VirtualMachineInstance', vmi(name, spec));
    await controller.mergePatch(
      'VirtualMachineInstance',
      { namespace: NAMESPACE, name },
      { status: { phase: 'Running', nodeName: 'n1', ...status } },
    );
    const pod = `virt-launcher-${name}-1`;
    await admin.create('Pod', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{ namespace: NAMESPACE, name: pod, annotations: { 'kubevirt.io/domain': name } },
        labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': metadata?.uid ?? '' },
      },
      spec: { nodeName: 'n1', containers: [{ name: 'compute', image: 'x' }] },
    });
    return pod;
  };
  const evict = (
    pod: string,
    { query = {}, options = {} }: { query?: Record<string, string>; options?: object } = {},
  ) =>
    api.rest.send({
      ...{ method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`, query },
      body: {
        ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace: NAMESPACE, name: pod } },
        deleteOptions: { gracePeriodSeconds: 0, ...options },
      },
    });
  const evacuating = async (name: string): Promise<string | undefined> =>
    (await admin.get('VirtualMachineInstance', { namespace: NAMESPACE, name }))?.status?.evacuationNodeName;
  const MIGRATABLE = { conditions: [{ type: 'LiveMigratable', status: 'True' }] };

  test('has the VMI leave its node, and says so in the words that the descheduler looks for', async () => {
    const pod = await guest('leaves', 'LiveMigrate', MIGRATABLE);
    const first = await refusal(evict(pod));
    expect(first.status).toBe(429);
    expect(first.message).toContain(`denied the request: Eviction triggered evacuation of VMI "${NAMESPACE}/leaves"`);
    expect(await evacuating('leaves')).toBe('n1');
    const second = await refusal(evict(pod));
    expect(second.status).toBe(429);
    expect(second.message).toContain(
      `Evacuation in progress: Eviction triggered evacuation of VMI "${NAMESPACE}/leaves"`,
    );
  });

  test.each([{ query: { dryRun: 'All' } }, { options: { dryRun: ['All'] } }])(
    'changes nothing when tried only: %j',
    async (how) => {
      const pod = await guest(`tried-${Object.keys(how)[0]}`, 'LiveMigrateIfPossible', MIGRATABLE);
      expect((await refusal(evict(pod, how))).message).toContain('Eviction triggered evacuation');
      expect(await evacuating(`tried-${Object.keys(how)[0]}`)).toBeUndefined();
    },
  );

  test('of a guest that must move and cannot is refused', async () => {
    const pod = await guest('stuck', 'LiveMigrate');
    const { status, message } = await refusal(evict(pod));
    expect(status).toBe(429);
    expect(message).toContain('VMI stuck is configured with an eviction strategy but is not live-migratable');
    expect(await evacuating('stuck')).toBeUndefined();
  });

  test.each([
    ['has no strategy', undefined, MIGRATABLE],
    ['says None', 'None', MIGRATABLE],
    ['moves if possible, which it is not', 'LiveMigrateIfPossible', {}],
    ['is over', 'LiveMigrate', { ...MIGRATABLE, phase: 'Succeeded' }],
  ])('is left to Kubernetes where the VMI %s', async (what, strategy, status) => {
    const name = what.replaceAll(/[^a-z]+/g, '-').slice(0, 12);
    const pod = await guest(name, strategy, status);
    await evict(pod);
    expect(await evacuating(name)).toBeUndefined();
    expect(await admin.get('Pod', { namespace: NAMESPACE, name: pod })).toBeUndefined();
  });

  test('of a migration’s target waits until the guest is there', async () => {
    const pod = await guest('arrives', 'External', { nodeName: 'n2' });
    expect((await refusal(evict(pod))).message).toContain('Eviction request for target Pod');
  });

  test('the cluster’s strategy counts where the VMI has none', async () => {
    config = configured({ evictionStrategy: 'External' });
    const pod = await guest('external', undefined);
    await refusal(evict(pod));
    expect(await evacuating('external')).toBe('n1');
  });
});

test('nothing in virtflow’s own namespace is asked', async () => {
  const own = vmi('own', { evictionStrategy: 'Never' });
  own.metadata = { ...own.metadata, namespace: SYSTEM };
  expect((await admin.create('VirtualMachineInstance', own)).spec.evictionStrategy).toBe('Never');
});

test('another authority, and with it another certificate, holds without a restart', async () => {
  const before = credentials.current()?.ca;
  const name = { namespace: SYSTEM, name: AUTHORITY_SECRET };
  await admin.mergePatch('Secret', name, { data: { 'authorities.json': Buffer.from('[]').toString('base64') } });
  await until('there is another one', () => credentials.current()?.ca !== before, { everyMs: 50 });
  for (const kind of ['mutating', 'validating']) {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/virtflow`;
    const { webhooks } = (await api.rest.send({ method: 'GET', path })) as Configuration;
    const value = Buffer.from(credentials.current()?.ca ?? '').toString('base64');
    const body = webhooks.map((_, index) => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }));
    await api.rest.send({ method: 'PATCH', path, body, contentType: 'application/json-patch+json' });
  }
  const isTrusted = () =>
    post(vmi('late'), 'virtualmachineinstances', api.rest, { dryRun: 'All' }).then(
      () => true,
      () => false,
    );
  await until('it is trusted', isTrusted, { everyMs: 100 });
});
