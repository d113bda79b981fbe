import type { webcrypto } from 'node:crypto';
import { nodeCommonName, nodeUri } from '../../../api/contract/certificates.ts';
import type { CertificateSigningRequest } from '../../../api/kubernetes/types.ts';
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '../../shared/certificates/x509.ts';
import type { Subject } from './issue.ts';

/** Claim of a Pod-bound token: on which node the Pod runs. The API server writes it, no client can. */
const NODE_CLAIM = 'authentication.kubernetes.io/node-name';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const MAX_BYTES = 16_384;
const USAGES = ['client auth', 'digital signature', 'server auth'];

/** Why a request is refused: `reason` as Kubernetes has it, one word; `message` for people. */
export interface Refusal {
  reason: string;
  message: string;
}

export type Verdict = { subject: Subject; node: string } | { refusal: Refusal };

const refuse = (reason: string, message: string): Verdict => ({ refusal: { reason, message } });

/**
 * Whether a request for the signer of node workers is one: made by a node worker (`account` is its user name), for the node on which it runs, with a
 * key that it has, and for nothing else. Never throws: whatever cannot be read is refused.
 */
export const verifyNodeRequest = async (
  { spec }: Pick<CertificateSigningRequest, 'spec'>,
  account: string,
): Promise<Verdict> => {
  if (spec.username !== account) {
    return refuse('NotANodeWorker', `only ${account} may ask for this certificate, not ${spec.username ?? 'nobody'}`);
  }
  const [node, ...more] = spec.extra?.[NODE_CLAIM] ?? [];
  if (node === undefined || node === '' || more.length > 0) {
    return refuse('NodeUnknown', `the requester's token does not name its node (claim ${NODE_CLAIM})`);
  }
  if ([...(spec.usages ?? [])].sort().join() !== USAGES.join()) {
    return refuse(
      'WrongUsages',
      `usages must be ${USAGES.join(', ')}; the request has ${(spec.usages ?? []).join(', ')}`,
    );
  }
  return verifyContent(spec.request, node);
};

const verifyContent = async (request: string, node: string): Promise<Verdict> => {
  const parsed = read(request);
  if (parsed === undefined) return refuse('Unreadable', 'spec.request is no PEM certificate request (PKCS #10)');
  // The library's own type is the browser's, of which Node's types know nothing.
  const algorithm = parsed.publicKey.algorithm as webcrypto.EcKeyAlgorithm;
  if (algorithm.name !== 'ECDSA' || algorithm.namedCurve !== 'P-256') {
    return refuse('WrongKeyType', 'the key must be ECDSA with P-256');
  }
  // Proof that the requester has the private key.
  if (!(await parsed.verify().catch(() => false))) {
    return refuse('WrongSignature', 'the request is not signed with the key that it names');
  }
  if (JSON.stringify(parsed.subjectName.toJSON()) !== JSON.stringify([{ CN: [nodeCommonName(node)] }])) {
    return refuse('WrongSubject', `the subject must be CN=${nodeCommonName(node)}, not ${parsed.subject}`);
  }
  if (parsed.attributes.some(({ type }) => type !== EXTENSION_REQUEST) || parsed.attributes.length !== 1) {
    return refuse('UnexpectedAttributes', 'the request may carry one attribute, the list of extensions');
  }
  const [extension, ...others] = parsed.extensions;
  if (!(extension instanceof SubjectAlternativeNameExtension) || others.length > 0) {
    return refuse(
      'UnexpectedExtensions',
      'the request may ask for subject alternative names and for no other extension',
    );
  }
  const alternativeNames = [{ type: 'url', value: nodeUri(node) }] as const;
  if (JSON.stringify(extension.names.toJSON()) !== JSON.stringify(alternativeNames)) {
    return refuse('WrongAlternativeNames', `the only subject alternative name must be URI ${nodeUri(node)}`);
  }
  return {
    node,
    subject: {
      commonName: nodeCommonName(node),
      alternativeNames: [...alternativeNames],
      usages: ['client auth', 'server auth'],
      publicKey: parsed.publicKey,
    },
  };
};

const read = (request: string): Pkcs10CertificateRequest | undefined => {
  try {
    const pem = Buffer.from(request, 'base64').toString('latin1');
    return pem.length > MAX_BYTES ? undefined : new Pkcs10CertificateRequest(pem);
  } catch {
    return undefined;
  }
};
