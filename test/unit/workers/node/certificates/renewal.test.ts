import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import type { TlsCredentials } from '../../../../../api/contract/certificates.ts';
import { newAuthority } from '../../../../../workers/controller/certificates/issue.ts';
import type { Authority } from '../../../../../workers/controller/certificates/rotation.ts';
import { assertOwn, renewalDelay } from '../../../../../workers/node/certificates/renewal.ts';
import { credentialsOf } from './support.ts';

const minute = 60_000;
const hour = 60 * minute;
const issued = Date.parse('2026-05-01T12:00:00Z');

let first: Authority;
let second: Authority;
let own: TlsCredentials;
const of = ({ certificate }: Authority): X509Certificate => new X509Certificate(certificate);

beforeAll(async () => {
  [first, second] = [await newAuthority(issued, 1000 * hour), await newAuthority(issued, 1000 * hour)];
  own = await credentialsOf(first, 'node-a', issued, 24 * hour);
});

test('without a certificate one is needed at once', () => {
  expect(renewalDelay(undefined, [of(first)], issued)).toBe(0);
});

// It begins five minutes before it was issued: two thirds of 24 h 5 min are over after 15 h 58 min 20 s.
test.each([
  ['fresh', 0, 15 * hour + 58 * minute + 20_000],
  ['in its first half', 10 * hour, 5 * hour + 58 * minute + 20_000],
  ['just before two thirds', 15 * hour + 58 * minute, 20_000],
  ['after two thirds', 16 * hour, 0],
  ['expired', 25 * hour, 0],
])('a certificate that is %s', (_, age, expected) => {
  expect(renewalDelay(new X509Certificate(own.cert), [of(first)], issued + age)).toBe(expected);
});

test('a certificate whose authority is trusted no more is renewed at once, one among several trusted ones is not', () => {
  const leaf = new X509Certificate(own.cert);
  expect(renewalDelay(leaf, [of(second)], issued)).toBe(0);
  expect(renewalDelay(leaf, [of(second), of(first)], issued)).toBeGreaterThan(0);
});

test('an authority of the same name with another key is another one', async () => {
  const impostor = await newAuthority(issued, 1000 * hour);
  expect(renewalDelay(new X509Certificate(own.cert), [of(impostor)], issued)).toBe(0);
});

test('a certificate of another key or another node is not our own', async () => {
  const leaf = new X509Certificate(own.cert);
  expect(() => assertOwn(leaf, own.key, 'node-a')).not.toThrow();
  expect(() => assertOwn(leaf, own.key, 'node-b')).toThrow(/is of node-a, not of node node-b/);
  const { key } = await credentialsOf(first, 'node-a', issued, hour);
  expect(() => assertOwn(leaf, key, 'node-a')).toThrow(/another key/);
});
