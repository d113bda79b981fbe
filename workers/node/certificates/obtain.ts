import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubePort } from '../../../activities/kube/port.ts';
import { NODE_SIGNER, nodeCommonName, nodeUri } from '../../../api/contract/certificates.ts';
import type { CertificateSigningRequest } from '../../../api/kubernetes/types.ts';
import {
  ECDSA,
  exportKey,
  newKeyPair,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '../../shared/certificates/x509.ts';

export interface ObtainPorts {
  node: string;
  kube: Pick<KubePort, 'get' | 'create'>;
  signal: AbortSignal;
}

/** The controller, or an administrator, said no. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}

/** Between two looks at a request: soon at first, since it is usually signed within the second; in ms. */
const FIRST_LOOK_MS = 100;
const MAX_LOOK_MS = 5_000;

/**
 * A new key, and a certificate for it from the controller, both PEM. Waits as long as the request is neither answered nor gone.
 * @throws RequestRefused; Error when it is gone; KubeError when the API server cannot be reached
 */
export const obtainCertificate = async ({
  node,
  kube,
  signal,
}: ObtainPorts): Promise<{ cert: string; key: string }> => {
  const { request, key } = await newRequest(node);
  const created = await kube.create('CertificateSigningRequest', request);
  const name = created.metadata?.name ?? '';
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(MAX_LOOK_MS, wait * 2)) {
    await delay(wait, undefined, { signal });
    const answer = await kube.get('CertificateSigningRequest', { name });
    if (answer === undefined) throw new Error(`CertificateSigningRequest ${name} is gone before it was answered`);
    const refusal = answer.status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refusal !== undefined)
      throw new Error(`CertificateSigningRequest ${name} is refused: ${refusal.message ?? ''}`);
    if (answer.status?.certificate) {
      return { cert: Buffer.from(answer.status.certificate, 'base64').toString(), key };
    }
  }
};

const newRequest = async (node: string): Promise<{ request: CertificateSigningRequest; key: string }> => {
  const keys = await newKeyPair();
  const pkcs10 = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [nodeCommonName(node)] }],
    keys,
    signingAlgorithm: ECDSA,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'url', value: nodeUri(node) }])],
  });
  const pem = pkcs10.toString('pem');
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 16);
  return {
    key: await exportKey(keys.privateKey),
    request: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: {
        name: `virtflow-${node.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${digest}`,
        labels: { 'app.kubernetes.io/part-of': 'virtflow' },
      },
      spec: {
        signerName: NODE_SIGNER,
        request: Buffer.from(pem).toString('base64'),
        usages: ['client auth', 'digital signature', 'server auth'],
      },
    },
  };
};
