import type { ObjectRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import type { Lease } from '../../../api/kubernetes/types.ts';
import type { Token } from '../../facts/token.ts';
import { leaseOf, tokenOf } from '../../facts/token.ts';
import type { KubePort } from '../../kube/port.ts';

/** A token and the Lease it was read from. */
export interface StoredToken {
  lease: Lease;
  token: Token;
}

/** Live read. */
export const readToken = async (kube: KubePort, vmi: ObjectRef): Promise<StoredToken | undefined> => {
  const lease = await kube.get('Lease', { namespace: vmi.namespace, name: tokenName(vmi) });
  return lease === undefined ? undefined : { lease, token: tokenOf(lease) };
};

/** Writes a token over the one that was read (or as a new Lease): whoever wrote in between makes this a conflict. @throws KubeError */
export const writeToken = async (kube: KubePort, vmi: ObjectRef, token: Token, read?: StoredToken): Promise<Token> => {
  const lease = leaseOf(token, vmi, read?.lease);
  return tokenOf(read === undefined ? await kube.create('Lease', lease) : await kube.replace('Lease', lease));
};

/** The token without a holder. The epoch stays, and so does the migration that may not move it again. */
export const freed = ({ epoch, settled }: Token): Token => ({ epoch, ...(settled === undefined ? {} : { settled }) });

/** Removes a token that nobody holds, so that nothing is left of a VM that is gone. */
export const dropFreeToken = async (kube: KubePort, vmi: ObjectRef): Promise<void> => {
  const read = await readToken(kube, vmi);
  if (read === undefined || read.token.holder !== undefined) return;
  const { uid = '', resourceVersion = '' } = read.lease.metadata ?? {};
  await kube.remove('Lease', { namespace: vmi.namespace, name: tokenName(vmi) }, { uid, resourceVersion });
};
