import { nodeCommonName, nodeUri } from '../../../../../api/contract/certificates.ts';
import type { TlsCredentials } from '../../../../../api/contract/certificates.ts';
import { issue } from '../../../../../workers/controller/certificates/issue.ts';
import type { Authority } from '../../../../../workers/controller/certificates/rotation.ts';
import { exportKey, newKeyPair, PublicKey } from '../../../../../workers/shared/certificates/x509.ts';

/** What a node's worker holds: a certificate of the authority, for its own key. */
export const credentialsOf = async (
  authority: Authority,
  node: string,
  now: number,
  lifetimeMs: number,
): Promise<TlsCredentials> => {
  const keys = await newKeyPair();
  const subject = {
    commonName: nodeCommonName(node),
    alternativeNames: [{ type: 'url' as const, value: nodeUri(node) }],
    usages: ['client auth', 'server auth'] as const,
    publicKey: await PublicKey.create(keys.publicKey),
  };
  return {
    cert: await issue(authority, subject, now, lifetimeMs),
    key: await exportKey(keys.privateKey),
    ca: authority.certificate,
  };
};
