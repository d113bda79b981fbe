import { X509Certificate } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import { ownCredentials } from '../../../../../workers/controller/certificates/credentials.ts';
import { until } from '../../../../support/until.ts';

const DAY = 86_400_000;
const durations = { authorityMs: 365 * DAY, certificateMs: DAY, trustDelayMs: DAY };
const HOST = 'virtflow-api.virtflow.svc';
const subject = {
  commonName: HOST,
  alternativeNames: [{ type: 'dns' as const, value: HOST }],
  usages: ['server auth' as const],
};

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

/** The two objects of the certificate authority, as the manifests hold them: empty. */
const cluster = () => {
  const objects: Record<string, { data?: Record<string, string> }> = { Secret: {}, ConfigMap: {} };
  const kube = {
    get: (kind: string) => Promise.resolve(objects[kind]),
    replace: (kind: string, object: object) => Promise.resolve((objects[kind] = object)),
  } as unknown as Pick<KubePort, 'get' | 'replace'>;
  return { objects, kube };
};

const start = (kube: Pick<KubePort, 'get' | 'replace'>, onTrust: (ca: string) => Promise<void> = async () => {}) => {
  const time = { now: Date.now() };
  const own = ownCredentials({
    ...{ kube, namespace: 'virtflow', durations, subject, log: pino({ level: 'silent' }) },
    ...{ clock: () => time.now, passMs: 20, signal: stopping.signal, onTrust },
  });
  return { own, time };
};

const isOf = (cert: string | undefined, authority: string): boolean => {
  const issuer = new X509Certificate(authority);
  return cert !== undefined && new X509Certificate(cert).verify(issuer.publicKey);
};

test('the first replica of a new installation has a certificate at once, without a leader', async () => {
  const { objects, kube } = cluster();
  const { own } = start(kube);
  await own.ready;
  const { cert = '', ca = '' } = own.current() ?? {};
  const leaf = new X509Certificate(cert);
  expect(leaf.subjectAltName).toBe(`DNS:${HOST}`);
  expect(isOf(cert, ca)).toBe(true);
  expect(objects['ConfigMap']?.data?.['ca.crt']).toBe(ca);
});

test('it is renewed after two thirds of its time, and when its authority is trusted no more', async () => {
  const { objects, kube } = cluster();
  const { own, time } = start(kube);
  await own.ready;
  const first = own.current()?.cert;
  time.now += DAY * 0.7;
  await until('it is renewed', () => own.current()?.cert !== first);
  const { cert: second, ca } = own.current() ?? {};
  expect(isOf(second, ca ?? '')).toBe(true);
  objects['Secret'] = { data: { 'authorities.json': Buffer.from('[]').toString('base64') } };
  await until('it is of another authority', () => own.current()?.ca !== ca);
  expect(isOf(own.current()?.cert, ca ?? '')).toBe(false);
  expect(isOf(own.current()?.cert, own.current()?.ca ?? '')).toBe(true);
});

test('no certificate is used before its authority was published where it must be', async () => {
  const { kube } = cluster();
  const published: string[] = [];
  let isDown = true;
  const { own } = start(kube, (ca) => {
    if (isDown) return Promise.reject(new Error('the API server did not answer'));
    published.push(ca);
    return Promise.resolve();
  });
  await until('it says why', () => own.detail().includes('the API server did not answer'));
  expect(own.current()).toBeUndefined();
  isDown = false;
  await own.ready;
  expect(own.current()?.ca).toBe(published[0]);
});
