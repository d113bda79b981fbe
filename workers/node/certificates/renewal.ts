import type { X509Certificate } from 'node:crypto';
import { createPrivateKey } from 'node:crypto';
import { nodeOfPeer } from '../../../api/contract/certificates.ts';
import { renewalTime } from '../../shared/certificates/certificate.ts';

/** Whether one of the authorities signed the certificate. */
export const isIssuedByOne = (leaf: X509Certificate, authorities: readonly X509Certificate[]): boolean =>
  authorities.some((authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey));

/**
 * In how many ms a certificate is to be renewed, 0: now. That is when there is none, when two thirds of its time are over, or when its authority is not
 * trusted any more.
 */
export const renewalDelay = (
  leaf: X509Certificate | undefined,
  authorities: readonly X509Certificate[],
  now: number,
): number => {
  if (leaf === undefined || !isIssuedByOne(leaf, authorities)) return 0;
  return Math.max(0, renewalTime(leaf.validFromDate.getTime(), leaf.validToDate.getTime()) - now);
};

/** @throws Error when the certificate is not that of this key and this node's worker */
export const assertOwn = (leaf: X509Certificate, key: string, node: string): void => {
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('the certificate is of another key');
  const named = nodeOfPeer(leaf.subjectAltName);
  if (named !== node) throw new Error(`the certificate is of ${named ?? 'no node'}, not of node ${node}`);
};
