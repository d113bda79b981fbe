// The library registers its algorithms through metadata of classes.
import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import { PemConverter } from '@peculiar/x509';

export * from '@peculiar/x509';

type CryptoKey = webcrypto.CryptoKey;

/** Keys of authorities, workers and signatures: ECDSA with P-256 and SHA-256. */
export const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export const newKeyPair = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);

/** PKCS #8, PEM. */
export const exportKey = async (key: CryptoKey): Promise<string> =>
  PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), PemConverter.PrivateKeyTag);

/** @throws Error when the PEM holds no private key of our kind */
export const importKey = (pem: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), ECDSA, true, ['sign']);

export type { CryptoKey };
