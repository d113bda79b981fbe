import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pino } from 'pino';
import { parseAllDocuments } from 'yaml';
import { kubeClient } from '../../activities/kube/client.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { Rest } from '../../activities/kube/rest.ts';
import { restOf } from '../../activities/kube/rest.ts';
import type { GuestCall, GuestRef } from '../../api/contract/guest-access.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { SUBRESOURCES_VERSIONS } from '../../api/subresources/catalogue.ts';
import { issue, newAuthority } from '../../workers/controller/certificates/issue.ts';
import type { Authority } from '../../workers/controller/certificates/rotation.ts';
import type { GuestAccess, GuestAnswer } from '../../workers/controller/guest-access/port.ts';
import { GuestAccessError } from '../../workers/controller/guest-access/port.ts';
import { openFrontDoor } from '../../workers/controller/https/front-door.ts';
import { watchFrontProxy } from '../../workers/controller/subresources/front-proxy.ts';
import { subresourceMounts } from '../../workers/controller/subresources/index.ts';
import { exportKey, newKeyPair, PublicKey } from '../../workers/shared/certificates/x509.ts';
import type { TestApiServer } from './api-server.ts';
import { startApiServer } from './api-server.ts';
import { configured } from './instances.ts';
import { until } from './until.ts';
import type { Virtctl, VirtctlOptions } from './virtctl/index.ts';
import { virtctl } from './virtctl/index.ts';
import { freePort } from './free-port.ts';

const SYSTEM = 'virtflow';
export const NAMESPACE = 'shop';
export const DAY_MS = 86_400_000;
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

/** What a guest was asked for. */
export interface Asked {
  guest: GuestRef;
  call: GuestCall;
  body: unknown;
  query: unknown;
}

/** Guests whose answers a test gives. */
export interface TestGuests {
  asked: Asked[];
  answer: () => GuestAnswer;
  open: (stream: string, params: Record<string, string>) => Promise<Duplex>;
}

export interface AggregatedWorld {
  api: TestApiServer;
  admin: KubePort;
  /** Of the front door. */
  port: number;
  guests: TestGuests;
  client: (options?: Partial<VirtctlOptions>) => Virtctl;
  /** Creates any object. */
  create: (object: object) => Promise<void>;
  apiService: (version: string) => Promise<unknown>;
  /** A client's certificate, of the front proxy's authority if of no other. */
  certificate: (name: string, authority?: Authority) => Promise<{ cert: string; key: string }>;
  /** A VM with a name of its own, and its instance if a status is given. */
  given: (
    spec: Partial<VirtualMachine['spec']>,
    status?: VirtualMachineInstance['status'],
    instanceSpec?: Partial<VirtualMachineInstance['spec']>,
  ) => Promise<string>;
  vm: (name: string) => Promise<VirtualMachine>;
  vmi: (name: string) => Promise<VirtualMachineInstance>;
  close: () => Promise<void>;
}

/** Status of an instance whose guest runs. */
export const RUNNING: VirtualMachineInstance['status'] = {
  ...{ phase: 'Running', nodeName: 'node-a', activePods: { 'pod-uid': 'node-a' } },
  interfaces: [{ name: 'default', ipAddress: '10.0.0.7' }],
};

/**
 * The aggregated API behind a real API server, which authenticates users, forwards their requests with its front proxy's certificate, and is asked what
 * they may do; the controller has the rights of deploy/base and no others. The guests are a test's own; neither a leader nor Temporal is there.
 */
export const startAggregatedWorld = async (): Promise<AggregatedWorld> => {
  const stop = new AbortController();
  const directory = await mkdtemp(join(tmpdir(), 'virtflow-subresources-'));
  const authority = await newAuthority(Date.now(), DAY_MS);
  const certificate: AggregatedWorld['certificate'] = (name, by = authority) => clientCertificate(by, name);
  const api = await startApiServer(await aggregationFlags(directory, authority));
  const admin = kubeClient(api.rest);
  const create = creator(api.rest);
  for (const name of [SYSTEM, NAMESPACE]) await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const port = await freePort();
  await deploy(create, port);
  const rest = asController(api);
  const frontProxy = watchFrontProxy(rest, log, stop.signal);
  const guests: TestGuests = {
    asked: [],
    answer: () => ({ status: 200 }),
    open: () => Promise.reject(new GuestAccessError(502, 'no guest here')),
  };
  const ports = { rest, kube: kubeClient(rest), log };
  const door = openFrontDoor({
    ...ports,
    ...{ namespace: SYSTEM, port, clientCas: frontProxy, signal: stop.signal },
    mounts: subresourceMounts({
      ...ports,
      ...{ guests: accessTo(guests), config: () => configured(), signal: stop.signal },
      frontProxy: () => frontProxy.config(),
    }),
    durations: { authorityMs: 365 * DAY_MS, certificateMs: DAY_MS, trustDelayMs: DAY_MS },
  });
  const client: AggregatedWorld['client'] = (options) =>
    virtctl(api.kubeConfig(), { namespace: NAMESPACE, ...options });
  const apiService: AggregatedWorld['apiService'] = (version) =>
    api.rest.send({
      method: 'GET',
      path: `/apis/apiregistration.k8s.io/v1/apiservices/${version}.subresources.kubevirt.io`,
    });
  // Each version is an APIService of its own, which becomes available when its turn comes.
  for (const version of SUBRESOURCES_VERSIONS) {
    const isServed = async (): Promise<boolean> =>
      (await client({ version }).version()).status === 200 && isAvailable(await apiService(version));
    await until(`${version} is served`, isServed, { timeoutMs: 90_000, seen: () => apiService(version) });
  }
  return {
    ...{ api, admin, port, guests, client, create, apiService, certificate },
    given: givenIn(admin),
    vm: async (name) => found(await admin.get('VirtualMachine', { namespace: NAMESPACE, name })),
    vmi: async (name) => found(await admin.get('VirtualMachineInstance', { namespace: NAMESPACE, name })),
    close: async () => {
      stop.abort();
      await api.close();
      await rm(directory, { recursive: true, force: true });
      await door.closed;
    },
  };
};

const isAvailable = (service: unknown): boolean =>
  (service as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions?.some(
    ({ type, status }) => type === 'Available' && status === 'True',
  ) ?? false;

const found = <T>(object: T | undefined): T => {
  if (object === undefined) throw new Error('the object is gone');
  return object;
};

const accessTo = (guests: TestGuests): GuestAccess => ({
  call: (guest, call, body, query) => {
    guests.asked.push({ guest, call, body, query });
    return Promise.resolve().then(guests.answer);
  },
  open: (_, stream, params) => guests.open(stream, params),
});

const PLURALS: Record<string, string> = {
  ...{ Namespace: 'namespaces', Service: 'services', Secret: 'secrets', ConfigMap: 'configmaps' },
  ...{ ClusterRole: 'clusterroles', ClusterRoleBinding: 'clusterrolebindings', APIService: 'apiservices' },
  ...{ RoleBinding: 'rolebindings', Role: 'roles', ServiceAccount: 'serviceaccounts' },
  VirtualMachineInstancetype: 'virtualmachineinstancetypes',
};

interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string };
  spec?: { service?: { port: number } };
}

const creator =
  (rest: Rest) =>
  async (object: object): Promise<void> => {
    const { apiVersion, kind, metadata } = object as AnyObject;
    const plural = PLURALS[kind];
    if (plural === undefined) throw new Error(`${kind} is not known here`);
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    await rest.send({ method: 'POST', path: `${root}${scope}/${plural}`, body: object });
  };

const FILES = ['certificates.yaml', 'controller-access.yaml', 'user-roles.yaml', 'webhooks.yaml', 'subresources.yaml'];

/** What concerns access of deploy/base, with the front door of this process in place of the Service's Pods. */
const deploy = async (create: (object: object) => Promise<void>, port: number): Promise<void> => {
  await create({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: SYSTEM, name: 'virtflow-api' } },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] },
  });
  for (const file of FILES) {
    const text = await readFile(join(import.meta.dirname, '../../deploy/base', file), 'utf8');
    for (const document of parseAllDocuments(text)) {
      const object = document.toJSON() as AnyObject;
      if (object.kind === 'Service' || PLURALS[object.kind] === undefined) continue;
      if (object.spec?.service !== undefined) object.spec.service.port = port;
      await create(object);
    }
  }
};

const clientCertificate = async (authority: Authority, name: string): Promise<{ cert: string; key: string }> => {
  const keys = await newKeyPair();
  const subject = {
    ...{ commonName: name, alternativeNames: [{ type: 'dns' as const, value: name }] },
    ...{ usages: ['client auth'] as const, publicKey: await PublicKey.create(keys.publicKey) },
  };
  return { cert: await issue(authority, subject, Date.now(), DAY_MS), key: await exportKey(keys.privateKey) };
};

/** The API server's flags for its aggregation layer, with an authority of its own. */
const aggregationFlags = async (directory: string, authority: Authority): Promise<string[]> => {
  const { cert, key } = await clientCertificate(authority, 'front-proxy-client');
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  return [
    `--requestheader-client-ca-file=${await file('front-proxy-ca.crt', authority.certificate)}`,
    `--proxy-client-cert-file=${await file('front-proxy.crt', cert)}`,
    `--proxy-client-key-file=${await file('front-proxy.key', key)}`,
    ...['--requestheader-allowed-names=front-proxy-client', '--requestheader-username-headers=X-Remote-User'],
    ...['--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-'],
  ];
};

const asController = (api: TestApiServer): Rest => {
  const config = api.kubeConfig();
  const server = `https://127.0.0.1:${api.port}`;
  config.loadFromClusterAndUser(
    { name: 'test', server, skipTLSVerify: true },
    { name: 'admin', token: 'test-admin', impersonateUser: `system:serviceaccount:${SYSTEM}:virtflow-controller` },
  );
  return restOf(config);
};

const givenIn = (admin: KubePort): AggregatedWorld['given'] => {
  let number = 0;
  return async (spec, status, instanceSpec = {}) => {
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
};
