import { X509Certificate } from 'node:crypto';

/** Workers read the bundle of trusted authorities at least this often, in ms: what is in it for longer is known to all. */
export const BUNDLE_REFRESH_MS = 60_000;

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Every certificate of a PEM text, in its order; other text between them is ignored. @throws Error when one cannot be read */
export const readCertificates = (pem: string): X509Certificate[] =>
  (pem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block));

/** SHA-256 of a certificate, in hexadecimal: which one it is. */
export const fingerprint = (certificate: X509Certificate): string =>
  certificate.fingerprint256.replaceAll(':', '').toLowerCase();

/** Clocks of two machines may differ this much, in ms. */
const SKEW_MS = 300_000;

/** Times of a new certificate, in ms: it begins a little earlier than now, for clocks that are behind. */
export const validity = (now: number, lifetimeMs: number): { notBefore: number; notAfter: number } => ({
  notBefore: now - Math.min(SKEW_MS, lifetimeMs / 10),
  notAfter: now + lifetimeMs,
});

/** When what is valid from `begin` to `end` is to be replaced: after two thirds, so that one third is left for obstacles. In ms. */
export const renewalTime = (begin: number, end: number): number => begin + ((end - begin) * 2) / 3;
