import { expect, test } from '@jest/globals';
import { newAuthority } from '../../../../../workers/controller/certificates/issue.ts';
import {
  fingerprint,
  readCertificates,
  renewalTime,
  validity,
} from '../../../../../workers/shared/certificates/certificate.ts';

const hour = 3_600_000;

test('a bundle is read in its order, whatever stands between the certificates', async () => {
  const [one, two] = [await newAuthority(Date.now(), hour), await newAuthority(Date.now(), hour)];
  const bundle = `# trusted\n${one.certificate}\n\nnote: the next one\r\n${two.certificate}`;
  expect(readCertificates(bundle).map(fingerprint)).toEqual([one.id, two.id]);
  expect(readCertificates('')).toEqual([]);
});

test('a certificate that is damaged is an error, not one less', async () => {
  const { certificate } = await newAuthority(Date.now(), hour);
  const lines = certificate.split('\n');
  lines.splice(3, 1);
  expect(() => readCertificates(lines.join('\n'))).toThrow();
});

test.each([
  ['a day', 24 * hour, -300_000],
  ['a few seconds', 10_000, -1_000],
])('valid from a little earlier than now: %s', (_, lifetimeMs, notBefore) => {
  expect(validity(0, lifetimeMs)).toEqual({ notBefore, notAfter: lifetimeMs });
});

test('a certificate is renewed after two thirds, so never at once', () => {
  expect(renewalTime(100, 400)).toBe(300);
  for (const lifetimeMs of [10_000, 600_000, 24 * hour]) {
    const { notBefore, notAfter } = validity(0, lifetimeMs);
    expect(renewalTime(notBefore, notAfter)).toBeGreaterThan(lifetimeMs / 2);
  }
});
