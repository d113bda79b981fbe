import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { nodeOfPeer, nodeUri } from '../../../../../api/contract/certificates.ts';
import { issue, newAuthority } from '../../../../../workers/controller/certificates/issue.ts';
import type { Authority } from '../../../../../workers/controller/certificates/rotation.ts';
import { fingerprint } from '../../../../../workers/shared/certificates/certificate.ts';
import { exportKey, newKeyPair, PublicKey } from '../../../../../workers/shared/certificates/x509.ts';

const hour = 3_600_000;
const now = Date.parse('2026-05-01T12:00:00Z');

const leafOf = async (authority: Authority, node = 'node-a', lifetimeMs = 24 * hour) => {
  const keys = await newKeyPair();
  const publicKey = await PublicKey.create(keys.publicKey);
  const alternativeNames = [{ type: 'url' as const, value: nodeUri(node) }];
  const subject = {
    commonName: `virtflow:node:${node}`,
    alternativeNames,
    usages: ['client auth'] as const,
    publicKey,
  };
  return {
    leaf: new X509Certificate(await issue(authority, subject, now, lifetimeMs)),
    key: await exportKey(keys.privateKey),
  };
};

test('an authority is a certificate that signs certificates and nothing below them', async () => {
  const authority = await newAuthority(now, 8760 * hour);
  const certificate = new X509Certificate(authority.certificate);
  expect(certificate.ca).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(authority.key ?? ''))).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.validToDate.getTime()).toBe(now + 8760 * hour);
  expect(authority).toMatchObject({ id: fingerprint(certificate), madeAt: now, expiresAt: now + 8760 * hour });
  expect(authority.trustedSince).toBeUndefined();
});

test('a certificate is of the key, the names and the usages that were given, and is valid from a little before now', async () => {
  const authority = await newAuthority(now, 8760 * hour);
  const { leaf, key } = await leafOf(authority);
  const issuer = new X509Certificate(authority.certificate);
  expect(leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey)).toBe(true);
  expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.subject).toBe('CN=virtflow:node:node-a');
  expect(nodeOfPeer(leaf.subjectAltName)).toBe('node-a');
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(leaf.validFromDate.getTime()).toBe(now - 300_000);
  expect(leaf.validToDate.getTime()).toBe(now + 24 * hour);
});

test('no certificate is valid for longer than its authority, and none comes from one without key', async () => {
  const authority = await newAuthority(now, 10 * hour);
  expect((await leafOf(authority)).leaf.validToDate.getTime()).toBe(authority.expiresAt);
  const { key: _, ...retired } = authority;
  await expect(leafOf(retired)).rejects.toThrow(/signs no more/);
});

test('a node’s name may be as long as Kubernetes allows', async () => {
  const node = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  const { leaf } = await leafOf(await newAuthority(now, 10 * hour), node);
  expect(nodeOfPeer(leaf.subjectAltName)).toBe(node);
});
