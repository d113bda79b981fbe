import { X509Certificate } from 'node:crypto';
import { fingerprint, validity } from '../../shared/certificates/certificate.ts';
import type { JsonGeneralNames, PublicKey } from '../../shared/certificates/x509.ts';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ECDSA,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  exportKey,
  importKey,
  KeyUsageFlags,
  KeyUsagesExtension,
  newKeyPair,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate as NewCertificate,
  X509CertificateGenerator,
} from '../../shared/certificates/x509.ts';
import type { Authority } from './rotation.ts';

/** A new authority with a key of its own; nobody trusts it yet. */
export const newAuthority = async (now: number, lifetimeMs: number): Promise<Authority> => {
  const keys = await newKeyPair();
  const { notBefore, notAfter } = validity(now, lifetimeMs);
  const made = await X509CertificateGenerator.createSelfSigned({
    // Each its own name: whoever verifies a chain finds the right one.
    name: [{ CN: [`virtflow-ca-${crypto.randomUUID().slice(0, 8)}`] }],
    keys,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: ECDSA,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const certificate = made.toString('pem');
  return {
    id: fingerprint(new X509Certificate(certificate)),
    certificate,
    key: await exportKey(keys.privateKey),
    madeAt: now,
    expiresAt: notAfter,
  };
};

/** For whom a certificate is made. All of it is the signer's decision, nothing comes from a request unseen. */
export interface Subject {
  commonName: string;
  alternativeNames: JsonGeneralNames;
  usages: readonly ('client auth' | 'server auth')[];
  publicKey: PublicKey;
}

const USAGES = { 'client auth': ExtendedKeyUsage.clientAuth, 'server auth': ExtendedKeyUsage.serverAuth };

/** A certificate of a worker, as PEM: signed by the authority directly, never valid for longer than it. @throws Error when the authority has no key */
export const issue = async (
  authority: Authority,
  { commonName, alternativeNames, usages, publicKey }: Subject,
  now: number,
  lifetimeMs: number,
): Promise<string> => {
  if (authority.key === undefined) throw new Error(`the authority ${authority.id} signs no more`);
  const issuer = new NewCertificate(authority.certificate);
  const { notBefore, notAfter } = validity(now, lifetimeMs);
  const made = await X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: issuer.subjectName,
    publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: ECDSA,
    notBefore: new Date(notBefore),
    notAfter: new Date(Math.min(notAfter, authority.expiresAt)),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension(usages.map((usage) => USAGES[usage])),
      new SubjectAlternativeNameExtension(alternativeNames),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return made.toString('pem');
};
