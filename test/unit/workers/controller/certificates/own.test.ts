import { X509Certificate } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import { CONTROLLER_COMMON_NAME, CONTROLLER_URI, isController } from '../../../../../api/contract/certificates.ts';
import { newAuthority } from '../../../../../workers/controller/certificates/issue.ts';
import { ownCredentials } from '../../../../../workers/controller/certificates/own.ts';
import type { Authority } from '../../../../../workers/controller/certificates/rotation.ts';
import { until } from '../../../../support/until.ts';

const DAY = 86_400_000;
const durations = { authorityMs: 365 * DAY, certificateMs: DAY, trustDelayMs: DAY };
const subject = {
  commonName: CONTROLLER_COMMON_NAME,
  alternativeNames: [{ type: 'url' as const, value: CONTROLLER_URI }],
  usages: ['client auth' as const],
};

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

/** The two objects of the certificate authority, set by the test. */
const cluster = () => {
  const held: { authorities: Authority[] } = { authorities: [] };
  const get = (kind: string): Promise<object> =>
    Promise.resolve({
      data:
        held.authorities.length === 0
          ? {}
          : kind === 'Secret'
            ? { 'authorities.json': Buffer.from(JSON.stringify(held.authorities)).toString('base64') }
            : { 'ca.crt': held.authorities.map(({ certificate }) => certificate).join('\n') },
    });
  return { held, kube: { get } as unknown as Pick<KubePort, 'get'> };
};

const trusted = async (madeAt: number): Promise<Authority> => ({
  ...(await newAuthority(madeAt, durations.authorityMs)),
  trustedSince: madeAt,
});

test('a controller has a certificate of its own as soon as an authority signs, and another one when that is trusted no more', async () => {
  const { held, kube } = cluster();
  let now = Date.now();
  const log = pino({ level: 'silent' });
  const options = { kube, namespace: 'virtflow', durations, subject, log, clock: () => now, passMs: 20 };
  const own = ownCredentials({ ...options, signal: stopping.signal });
  await until('it says what is missing', () =>
    own.detail().includes('the leader has made no certificate authority yet'),
  );
  expect(own.current()).toBeUndefined();

  const first = await trusted(now - DAY);
  held.authorities = [first];
  await own.ready;
  const shown = own.current();
  const leaf = new X509Certificate(shown?.cert ?? '');
  expect(isController(leaf.subjectAltName)).toBe(true);
  expect(leaf.verify(new X509Certificate(first.certificate).publicKey)).toBe(true);
  expect(shown?.ca.trim()).toBe(first.certificate.trim());

  const second = await trusted(now - DAY);
  held.authorities = [second];
  await until('a certificate of the second authority', () => {
    const cert = own.current()?.cert;
    return cert !== undefined && new X509Certificate(cert).verify(new X509Certificate(second.certificate).publicKey);
  });

  const before = own.current()?.cert;
  now += DAY * 0.7;
  await until('it is renewed after two thirds of its time', () => own.current()?.cert !== before);
  stopping.abort();
  await own.done;
});
