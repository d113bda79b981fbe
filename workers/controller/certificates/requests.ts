import type { KubePort } from '../../../activities/kube/port.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../api/kubernetes/types.ts';
import { issue } from './issue.ts';
import type { Authority } from './rotation.ts';
import type { Refusal } from './verify-request.ts';
import { verifyNodeRequest } from './verify-request.ts';

const has = ({ status }: CertificateSigningRequest, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type) ?? false;

/** Nobody has answered it yet. */
export const isOpen = (request: CertificateSigningRequest): boolean =>
  !has(request, 'Denied') && !has(request, 'Failed') && !request.status?.certificate;

export type Outcome = { kind: 'signed'; node: string } | { kind: 'refused'; refusal: Refusal };

export interface RequestPorts {
  kube: Pick<KubePort, 'get' | 'mergePatch'>;
  /** User name of node workers. */
  account: string;
  certificateMs: number;
  clock: () => number;
}

/**
 * Answers one request for a node worker's certificate: approves and signs it, or refuses it. Undefined: it was answered before, or is gone. One that
 * somebody else approved is verified all the same.
 * @throws KubeError, Conflict when somebody else wrote it meanwhile
 */
export const settle = async (ports: RequestPorts, name: string, authority: Authority): Promise<Outcome | undefined> => {
  const { kube, account, certificateMs, clock } = ports;
  const request = await kube.get('CertificateSigningRequest', { name });
  if (request === undefined || !isOpen(request)) return undefined;
  const verdict = await verifyNodeRequest(request, account);
  if ('refusal' in verdict) {
    await refuse(kube, request, verdict.refusal);
    return { kind: 'refused', refusal: verdict.refusal };
  }
  const approved = has(request, 'Approved')
    ? request
    : await addCondition(kube, request, 'approval', {
        type: 'Approved',
        status: 'True',
        reason: 'NodeWorker',
        message: `made by the node worker of ${verdict.node}`,
      });
  const askedMs = (request.spec.expirationSeconds ?? Infinity) * 1000;
  const certificate = await issue(authority, verdict.subject, clock(), Math.min(certificateMs, askedMs));
  await patch(kube, approved, 'status', { certificate: Buffer.from(certificate).toString('base64') });
  return { kind: 'signed', node: verdict.node };
};

/** What is approved cannot be denied any more; the signer then says that it failed. */
const refuse = (kube: RequestPorts['kube'], request: CertificateSigningRequest, refusal: Refusal): Promise<unknown> =>
  has(request, 'Approved')
    ? addCondition(kube, request, 'status', { type: 'Failed', status: 'True', ...refusal })
    : addCondition(kube, request, 'approval', { type: 'Denied', status: 'True', ...refusal });

const addCondition = (
  kube: RequestPorts['kube'],
  request: CertificateSigningRequest,
  subresource: 'approval' | 'status',
  condition: CertificateSigningRequestCondition,
): Promise<CertificateSigningRequest> =>
  patch(kube, request, subresource, { conditions: [...(request.status?.conditions ?? []), condition] });

const patch = (
  kube: RequestPorts['kube'],
  { metadata }: CertificateSigningRequest,
  subresource: 'approval' | 'status',
  status: object,
): Promise<CertificateSigningRequest> => {
  const { name = '', uid, resourceVersion } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, status };
  return kube.mergePatch('CertificateSigningRequest', { name }, body, { subresource });
};
