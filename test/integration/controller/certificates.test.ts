import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { PeerCredentials, TlsCredentials } from '../../../api/contract/certificates.ts';
import { NODE_SIGNER, nodeCommonName, nodeOfPeer, nodeUri } from '../../../api/contract/certificates.ts';
import type { CertificateSigningRequest } from '../../../api/kubernetes/types.ts';
import type { Durations } from '../../../workers/controller/certificates/rotation.ts';
import { certificateSigner } from '../../../workers/controller/certificates/signer.ts';
import { nodeCredentials } from '../../../workers/node/certificates/credentials.ts';
import {
  ECDSA,
  newKeyPair,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '../../../workers/shared/certificates/x509.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { applyBase, asPod, SYSTEM_NAMESPACE } from '../../support/deployed.ts';
import { until } from '../../support/until.ts';

/** Controller's leader and node workers with the rights of deploy/base and nothing more, against a real API server. */
const NAMESPACE = SYSTEM_NAMESPACE;
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
const day = 86_400_000;
const DEFAULTS: Durations = { authorityMs: 365 * day, certificateMs: day, trustDelayMs: day };

let server: TestApiServer;
let admin: KubePort;
let directory: string;

let controllerRest: Rest;
const nodeRests = new Map<string, Rest>();
const nodeRest = async (node: string): Promise<Rest> => {
  const rest = nodeRests.get(node) ?? (await asPod(server, 'virtflow-node', node));
  nodeRests.set(node, rest);
  return rest;
};

/** A leader with these durations, until stopped. */
const startSigner = (durations: Durations) => {
  const stop = new AbortController();
  const register = new Registry();
  const kube = kubeClient(controllerRest);
  const signer = certificateSigner({
    ...{ rest: controllerRest, kube, namespace: NAMESPACE, durations, register, log, passMs: 200 },
  });
  const done = signer.lead(stop.signal);
  return { signer, register, stop: () => (stop.abort(), done) };
};

const startNode = async (node: string, options: { directory?: string; runsOn?: string } = {}) => {
  const stop = new AbortController();
  const credentials = nodeCredentials({
    ...{
      node,
      kube: kubeClient(await nodeRest(options.runsOn ?? node)),
      namespace: NAMESPACE,
      log,
      signal: stop.signal,
    },
    ...{ directory: options.directory ?? join(directory, crypto.randomUUID()), bundlePollMs: 300 },
  });
  return { credentials, stop: () => (stop.abort(), credentials.done) };
};

/** Forgets all authorities, as if virtflow had just been installed. */
const freshInstallation = async (): Promise<void> => {
  await admin.mergePatch('Secret', { namespace: NAMESPACE, name: 'virtflow-ca' }, { data: null });
  await admin.mergePatch('ConfigMap', { namespace: NAMESPACE, name: 'virtflow-ca-bundle' }, { data: null });
};
const bundle = async (): Promise<string[]> => {
  const object = await admin.get('ConfigMap', { namespace: NAMESPACE, name: 'virtflow-ca-bundle' });
  return (object?.data?.['ca.crt'] ?? '').split(/(?<=-----END CERTIFICATE-----\n)/).filter((pem) => pem !== '');
};

const now = (credentials: PeerCredentials): TlsCredentials => {
  const current = credentials.current();
  if (current === undefined) throw new Error(credentials.detail());
  return current;
};

/** A mutual TLS connection; answers with whom each side saw. @throws when one does not trust the other */
const shakeHands = async (client: TlsCredentials, host: TlsCredentials): Promise<(string | undefined)[]> => {
  const seen: Promise<string | undefined>[] = [];
  const listener = createServer({ ...host, requestCert: true, rejectUnauthorized: true });
  seen.push(
    new Promise((resolve, reject) => {
      listener.once('secureConnection', (socket) => {
        resolve(nodeOfPeer(socket.getPeerCertificate().subjectaltname));
        socket.end();
      });
      listener.once('tlsClientError', reject);
    }),
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ ...client, host: '127.0.0.1', port, checkServerIdentity: () => undefined });
  seen.push(
    new Promise((resolve, reject) => {
      socket.once('secureConnect', () => resolve(nodeOfPeer(socket.getPeerCertificate().subjectaltname)));
      socket.once('error', reject);
    }),
  );
  try {
    return await Promise.all(seen);
  } finally {
    socket.destroy();
    listener.close();
  }
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'virtflow-certificates-'));
  server = await startApiServer();
  admin = kubeClient(server.rest);
  await applyBase(server, [
    ...['controller-access.yaml', 'node-access.yaml', 'certificates.yaml', 'admission-policies.yaml'],
  ]);
  controllerRest = await asPod(server, 'virtflow-controller', 'node-0');
}, 120_000);
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
}, 30_000);

test('two node workers get certificates within seconds and trust each other; what is stored is for root alone', async () => {
  await freshInstallation();
  const stored = join(directory, 'stored');
  const leader = startSigner(DEFAULTS);
  const [one, two] = [await startNode('node-1', { directory: stored }), await startNode('node-2')];
  const began = Date.now();
  await Promise.all([one.credentials.ready, two.credentials.ready]);
  expect(Date.now() - began).toBeLessThan(10_000);
  await expect(shakeHands(now(one.credentials), now(two.credentials))).resolves.toEqual(['node-1', 'node-2']);
  expect(await bundle()).toHaveLength(1);
  expect((await stat(join(stored, 'credentials.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(stored)).mode & 0o777).toBe(0o700);
  expect(leader.signer.check().detail).toMatch(/^signing with authority/);
  expect(one.credentials.detail()).toMatch(/^certificate until 20/);
  const text = execFileSync('openssl', ['x509', '-noout', '-text'], {
    input: now(one.credentials).cert,
    encoding: 'utf8',
  });
  expect(text).toMatch(/CA:FALSE/);
  expect(text).toMatch(/TLS Web Client Authentication, TLS Web Server Authentication/);
  await Promise.all([one.stop(), two.stop(), leader.stop()]);

  // A restarted worker has its certificate at once, whether or not anybody signs.
  const again = await startNode('node-1', { directory: stored });
  await again.credentials.ready;
  expect(now(again.credentials).cert).toBe(now(one.credentials).cert);
  await again.stop();
  const requests = await admin.list('CertificateSigningRequest');
  expect(requests.filter(({ metadata }) => metadata?.name?.includes('node-1'))).toHaveLength(1);
}, 60_000);

test('certificates are renewed and the authority is replaced while both peers trust each other at every moment', async () => {
  await freshInstallation();
  // A certificate is renewed when a third of its life is left: more than all that takes on a busy machine.
  const leader = startSigner({ authorityMs: 54_000, certificateMs: 15_000, trustDelayMs: 3_000 });
  const [one, two] = [await startNode('node-1'), await startNode('node-2')];
  await Promise.all([one.credentials.ready, two.credentials.ready]);
  const [oldest] = await bundle();
  const certificates = new Set<string>();
  let changes = 0;
  one.credentials.onChange(() => (changes += 1));
  let overlap = 0;
  await until(
    'the first authority is gone and another one signs',
    async () => {
      for (const [from, to] of [[one, two] as const, [two, one] as const]) {
        await shakeHands(now(from.credentials), now(to.credentials));
        certificates.add(now(from.credentials).cert);
      }
      const trusted = await bundle();
      overlap = Math.max(overlap, trusted.length);
      return !trusted.includes(oldest ?? '');
    },
    { timeoutMs: 90_000, everyMs: 100 },
  );
  await until(
    'both forget the first authority',
    () => !now(one.credentials).ca.includes(oldest ?? '') && !now(two.credentials).ca.includes(oldest ?? ''),
  );
  await expect(shakeHands(now(one.credentials), now(two.credentials))).resolves.toEqual(['node-1', 'node-2']);
  expect(overlap).toBeGreaterThanOrEqual(2);
  expect(certificates.size).toBeGreaterThanOrEqual(8);
  expect(changes).toBeGreaterThanOrEqual(4);
  await Promise.all([one.stop(), two.stop(), leader.stop()]);
}, 180_000);

const request = async (
  node: string,
  name: string,
  change: Partial<CertificateSigningRequest['spec']> = {},
): Promise<CertificateSigningRequest> => {
  const pkcs10 = await Pkcs10CertificateRequestGenerator.create({
    ...{ name: [{ CN: [nodeCommonName(node)] }], keys: await newKeyPair(), signingAlgorithm: ECDSA },
    extensions: [new SubjectAlternativeNameExtension([{ type: 'url', value: nodeUri(node) }])],
  });
  return {
    ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name } },
    spec: {
      signerName: NODE_SIGNER,
      request: Buffer.from(pkcs10.toString('pem')).toString('base64'),
      usages: ['client auth', 'digital signature', 'server auth'],
      ...change,
    },
  };
};
const conditionOf = (name: string) =>
  until(`${name} is refused`, async () => {
    const { status } = (await admin.get('CertificateSigningRequest', { name })) ?? {};
    return status?.conditions?.find(({ type }) => type !== 'Approved');
  });

test('requests of others are refused with a reason, also when an administrator approved them', async () => {
  await freshInstallation();
  const leader = startSigner(DEFAULTS);
  const node = kubeClient(await nodeRest('node-1'));
  await admin.create('CertificateSigningRequest', await request('node-1', 'by-admin'));
  await expect(conditionOf('by-admin')).resolves.toMatchObject({ type: 'Denied', reason: 'NotANodeWorker' });
  await node.create('CertificateSigningRequest', await request('node-2', 'other-node'));
  await expect(conditionOf('other-node')).resolves.toMatchObject({ type: 'Denied', reason: 'WrongSubject' });
  const liar = await startNode('node-2', { runsOn: 'node-1' });
  await until('it tells why', () => /is refused: the subject must be/.test(liar.credentials.detail()));
  expect(liar.credentials.current()).toBeUndefined();
  await liar.stop();
  await leader.stop();

  // Approved before the leader saw it.
  await admin.create('CertificateSigningRequest', await request('node-1', 'approved'));
  const approval = { type: 'Approved', status: 'True', reason: 'Test', message: 'by hand' };
  await admin.mergePatch(
    'CertificateSigningRequest',
    { name: 'approved' },
    { status: { conditions: [approval] } },
    { subresource: 'approval' },
  );
  const next = startSigner(DEFAULTS);
  await expect(conditionOf('approved')).resolves.toMatchObject({ type: 'Failed', reason: 'NotANodeWorker' });
  expect((await admin.get('CertificateSigningRequest', { name: 'approved' }))?.status?.certificate).toBeUndefined();
  const metrics = await next.register.metrics();
  expect(metrics).toMatch(/virtflow_certificate_requests_total\{outcome="refused"\} 1/);
  await next.stop();
}, 60_000);

test('rights end where they should', async () => {
  const node = kubeClient(await nodeRest('node-1'));
  const controller = kubeClient(controllerRest);
  const other = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
  await expect(
    node.create('CertificateSigningRequest', await request('node-1', 'other-signer', other)),
  ).rejects.toThrow(/virtflow.io\/node-worker only/);
  await expect(node.get('Secret', { namespace: NAMESPACE, name: 'virtflow-ca' })).rejects.toMatchObject({
    reason: 'Forbidden',
  });
  await expect(controller.get('Secret', { namespace: NAMESPACE, name: 'virtflow-temporal' })).rejects.toMatchObject({
    reason: 'Forbidden',
  });
  await admin.create('CertificateSigningRequest', await request('node-1', 'of-another-signer', other));
  const approval = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }] } };
  await expect(
    controller.mergePatch('CertificateSigningRequest', { name: 'of-another-signer' }, approval, {
      subresource: 'approval',
    }),
  ).rejects.toMatchObject({ reason: 'Forbidden' });
}, 30_000);

test('a Secret that was lost: certificates stay trusted, and the new authority signs after a while', async () => {
  await freshInstallation();
  const durations = { authorityMs: 90_000, certificateMs: 24_000, trustDelayMs: 3_000 };
  const leader = startSigner(durations);
  const [one, two] = [await startNode('node-1'), await startNode('node-2')];
  await Promise.all([one.credentials.ready, two.credentials.ready]);
  await leader.stop();
  await admin.mergePatch('Secret', { namespace: NAMESPACE, name: 'virtflow-ca' }, { data: null });
  const before = now(one.credentials).cert;
  const next = startSigner(durations);
  await until(
    'both have a certificate of the new authority',
    async () => {
      await shakeHands(now(one.credentials), now(two.credentials));
      const [, newest] = await bundle();
      return newest !== undefined && now(one.credentials).cert !== before;
    },
    { timeoutMs: 60_000, everyMs: 100 },
  );
  await shakeHands(now(one.credentials), now(two.credentials));
  await Promise.all([one.stop(), two.stop(), next.stop()]);
}, 120_000);

test('the list of authorities emptied: a new authority at once, and nobody trusts the old one any more', async () => {
  await freshInstallation();
  const leader = startSigner(DEFAULTS);
  const [one, two] = [await startNode('node-1'), await startNode('node-2')];
  await Promise.all([one.credentials.ready, two.credentials.ready]);
  const stale = now(one.credentials);
  const empty = { stringData: { 'authorities.json': '[]' } };
  await admin.mergePatch('Secret', { namespace: NAMESPACE, name: 'virtflow-ca' }, empty);
  const isNew = ({ credentials }: typeof one): boolean =>
    credentials.current()?.ca !== stale.ca && credentials.current()?.cert !== stale.cert;
  await until('both have new certificates', () => isNew(one) && now(two.credentials).ca === now(one.credentials).ca);
  await until('they trust each other', () => shakeHands(now(one.credentials), now(two.credentials)).catch(() => false));
  await expect(shakeHands(stale, now(two.credentials))).rejects.toThrow();
  await Promise.all([one.stop(), two.stop(), leader.stop()]);
}, 60_000);

test('an API server that is killed delays a certificate and nothing else', async () => {
  await freshInstallation();
  const leader = startSigner(DEFAULTS);
  await server.kill();
  const one = await startNode('node-1');
  await until('it says why', () => /did not answer/.test(one.credentials.detail()));
  expect(one.credentials.current()).toBeUndefined();
  await server.start();
  await one.credentials.ready;
  expect(one.credentials.detail()).toMatch(/^certificate until/);
  await Promise.all([one.stop(), leader.stop()]);
}, 90_000);
