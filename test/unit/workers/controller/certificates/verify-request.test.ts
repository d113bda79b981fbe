import { generateKeyPairSync } from 'node:crypto';
import type { webcrypto } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { nodeCommonName, nodeUri } from '../../../../../api/contract/certificates.ts';
import type { CertificateSigningRequest } from '../../../../../api/kubernetes/types.ts';
import { verifyNodeRequest } from '../../../../../workers/controller/certificates/verify-request.ts';
import type { Extension } from '../../../../../workers/shared/certificates/x509.ts';
import {
  BasicConstraintsExtension,
  ChallengePasswordAttribute,
  ECDSA,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  newKeyPair,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '../../../../../workers/shared/certificates/x509.ts';

type Spec = CertificateSigningRequest['spec'];
type Names = ConstructorParameters<typeof SubjectAlternativeNameExtension>[0];
type Create = Parameters<typeof Pkcs10CertificateRequestGenerator.create>[0];

const ACCOUNT = 'system:serviceaccount:virtflow:virtflow-node';
const CLAIM = 'authentication.kubernetes.io/node-name';

const der = async (change: Partial<Create> = {}): Promise<Buffer> =>
  Buffer.from(
    (
      await Pkcs10CertificateRequestGenerator.create({
        ...{ name: [{ CN: [nodeCommonName('node-a')] }], keys: await newKeyPair(), signingAlgorithm: ECDSA },
        extensions: [uri(nodeUri('node-a'))],
        ...change,
      })
    ).rawData,
  );
const uri = (value: string, ...more: NonNullable<Names> & unknown[]): Extension =>
  new SubjectAlternativeNameExtension([{ type: 'url', value }, ...more]);
const encode = (bytes: Buffer): string =>
  Buffer.from(
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
  ).toString('base64');

const spec = async (change: Partial<Spec> = {}, content: Partial<Create> = {}): Promise<Spec> => ({
  signerName: 'virtflow.io/node-worker',
  username: ACCOUNT,
  extra: { [CLAIM]: ['node-a'] },
  usages: ['client auth', 'digital signature', 'server auth'],
  request: encode(await der(content)),
  ...change,
});
const keysOf = (
  algorithm: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams,
): Promise<webcrypto.CryptoKeyPair> => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

test('a node worker’s own request is accepted; what is signed is fixed by the claim and the key', async () => {
  const verdict = await verifyNodeRequest({ spec: await spec() }, ACCOUNT);
  expect(verdict).toMatchObject({
    node: 'node-a',
    subject: {
      commonName: 'virtflow:node:node-a',
      alternativeNames: [{ type: 'url', value: 'spiffe://virtflow/node/node-a' }],
      usages: ['client auth', 'server auth'],
    },
  });
});

test('the order of usages does not matter', async () => {
  const usages = ['server auth', 'digital signature', 'client auth'];
  await expect(verifyNodeRequest({ spec: await spec({ usages }) }, ACCOUNT)).resolves.toHaveProperty('subject');
});

const P384 = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};
const withExtensions =
  (...extensions: Extension[]): (() => Promise<Spec>) =>
  () =>
    spec({}, { extensions });

test.each<[string, string, () => Promise<Spec>]>([
  [
    'another requester',
    'NotANodeWorker',
    () => spec({ username: 'system:serviceaccount:virtflow:virtflow-controller' }),
  ],
  [
    'the same account of another namespace',
    'NotANodeWorker',
    () => spec({ username: 'system:serviceaccount:x:virtflow-node' }),
  ],
  ['a node’s kubelet', 'NotANodeWorker', () => spec({ username: 'system:node:node-a' })],
  ['a token of no Pod', 'NodeUnknown', () => spec({ extra: {} })],
  ['a claim of two nodes', 'NodeUnknown', () => spec({ extra: { [CLAIM]: ['node-a', 'node-b'] } })],
  ['an empty claim', 'NodeUnknown', () => spec({ extra: { [CLAIM]: [''] } })],
  ['a claim of another node', 'WrongSubject', () => spec({ extra: { [CLAIM]: ['node-b'] } })],
  ['too few usages', 'WrongUsages', () => spec({ usages: ['client auth', 'digital signature'] })],
  [
    'usage of an authority',
    'WrongUsages',
    () => spec({ usages: ['cert sign', 'client auth', 'digital signature', 'server auth'] }),
  ],
  ['no PEM', 'Unreadable', () => spec({ request: 'AAAA' })],
  ['PEM of something else', 'Unreadable', () => spec({ request: encode(Buffer.from('nothing')) })],
  [
    'too large',
    'Unreadable',
    async () => spec({ request: encode(Buffer.concat([await der(), Buffer.alloc(20_000)])) }),
  ],
  ['another curve', 'WrongKeyType', async () => spec({}, { keys: await keysOf(P384), signingAlgorithm: P384 })],
  ['an RSA key', 'WrongKeyType', async () => spec({}, { keys: await keysOf(RSA), signingAlgorithm: RSA })],
  ['an unknown kind of key', 'WrongKeyType', async () => spec({ request: encode(await withKeyOf('ed25519')) })],
  ['somebody else’s key', 'WrongSignature', async () => spec({ request: encode(await signedByOther()) })],
  ['a broken signature', 'WrongSignature', async () => spec({ request: encode(flipLast(await der())) })],
  [
    'a subject with more in it',
    'WrongSubject',
    () => spec({}, { name: [{ CN: [nodeCommonName('node-a')] }, { O: ['system:masters'] }] }),
  ],
  [
    'two common names',
    'WrongSubject',
    () => spec({}, { name: [{ CN: [nodeCommonName('node-a')] }, { CN: ['admin'] }] }),
  ],
  ['no subject', 'WrongSubject', () => spec({}, { name: [] })],
  ['no extension', 'UnexpectedAttributes', () => spec({}, { extensions: [] })],
  ['another attribute', 'UnexpectedAttributes', () => spec({}, { attributes: [new ChallengePasswordAttribute('x')] })],
  [
    'a request to be an authority',
    'UnexpectedExtensions',
    withExtensions(uri(nodeUri('node-a')), new BasicConstraintsExtension(true)),
  ],
  [
    'a key usage of authorities',
    'UnexpectedExtensions',
    withExtensions(uri(nodeUri('node-a')), new KeyUsagesExtension(KeyUsageFlags.keyCertSign)),
  ],
  [
    'usages as extension',
    'UnexpectedExtensions',
    withExtensions(uri(nodeUri('node-a')), new ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.3'])),
  ],
  ['alternative names twice', 'UnexpectedExtensions', withExtensions(uri(nodeUri('node-a')), uri(nodeUri('node-b')))],
  ['no alternative name', 'UnexpectedExtensions', withExtensions(new BasicConstraintsExtension(false))],
  ['the URI of another node', 'WrongAlternativeNames', withExtensions(uri(nodeUri('node-b')))],
  [
    'a DNS name too',
    'WrongAlternativeNames',
    withExtensions(uri(nodeUri('node-a'), { type: 'dns', value: 'kubernetes.default.svc' })),
  ],
  [
    'an address too',
    'WrongAlternativeNames',
    withExtensions(uri(nodeUri('node-a'), { type: 'ip', value: '10.0.0.1' })),
  ],
  [
    'the right URI as DNS name',
    'WrongAlternativeNames',
    withExtensions(new SubjectAlternativeNameExtension([{ type: 'dns', value: nodeUri('node-a') }])),
  ],
])('refused: %s', async (_, reason, given) => {
  const verdict = await verifyNodeRequest({ spec: await given() }, ACCOUNT);
  expect(verdict).toMatchObject({ refusal: { reason } });
  expect('refusal' in verdict && verdict.refusal.message).not.toBe('');
});

const flipLast = (bytes: Buffer): Buffer => {
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
};

/** The public key of one pair, the signature of another: DER that was put together. */
const signedByOther = async (): Promise<Buffer> => {
  const [mine, stolen] = [await newKeyPair(), await newKeyPair()];
  return der({ keys: { privateKey: mine.privateKey, publicKey: stolen.publicKey } });
};

/** A request whose key is replaced by one of another kind. */
const withKeyOf = async (kind: 'ed25519'): Promise<Buffer> => {
  const keys = await newKeyPair();
  const ours = Buffer.from(await crypto.subtle.exportKey('spki', keys.publicKey));
  const other = generateKeyPairSync(kind).publicKey.export({ type: 'spki', format: 'der' });
  const whole = await der({ keys });
  const at = whole.indexOf(ours);
  // Lengths of the two enclosing sequences shrink with it; both are of the long form with one byte here.
  const made = Buffer.concat([whole.subarray(0, at), other, whole.subarray(at + ours.length)]);
  return fixLengths(made, whole, ours.length - other.length);
};

const fixLengths = (made: Buffer, before: Buffer, less: number): Buffer => {
  let offset = 0;
  for (let level = 0; level < 2; level += 1) {
    const long = (before[offset + 1] ?? 0) & 0x80 ? (before[offset + 1] ?? 0) & 0x7f : 0;
    const width = long === 0 ? 1 : long;
    const at = offset + (long === 0 ? 1 : 2);
    made.writeUIntBE(before.readUIntBE(at, width) - less, at, width);
    offset = at + width;
  }
  return made;
};
