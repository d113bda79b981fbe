import type { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { onConflictAgain } from '../../../activities/controller/races.ts';
import type { Kinds, KubePort } from '../../../activities/kube/port.ts';
import { AUTHORITY_SECRET, BUNDLE_CONFIG_MAP, BUNDLE_KEY } from '../../../api/contract/certificates.ts';
import { fingerprint, readCertificates } from '../../shared/certificates/certificate.ts';
import type { Logger } from '../../shared/logging.ts';
import { newAuthority } from './issue.ts';
import type { Authority, Durations } from './rotation.ts';
import { adopted, advance, signerOf } from './rotation.ts';

/** Key of the Secret. */
const AUTHORITIES_KEY = 'authorities.json';

const stored = z.array(
  z.strictObject({
    id: z.string(),
    certificate: z.string(),
    key: z.exactOptional(z.string()),
    madeAt: z.number(),
    expiresAt: z.number(),
    trustedSince: z.exactOptional(z.number()),
    retiredAt: z.exactOptional(z.number()),
  }),
);

export interface AuthorityPorts {
  kube: Pick<KubePort, 'get' | 'replace'>;
  /** Namespace of virtflow. */
  namespace: string;
  durations: Durations;
  clock: () => number;
  log: Logger;
}

/** Write, publish, see it published: an authority's first steps need three passes. */
const MAX_PASSES = 5;

/**
 * Brings Secret and bundle to where they should be now, and answers with the authority that signs (undefined: none may yet) and all that are
 * trusted. The Secret is written first: the bundle follows from it, and no key is used that is not stored. Two leaders at once do no harm: both
 * objects are replaced under the resourceVersion that was read.
 * @throws KubeError; Error when one of the objects is missing or cannot be read
 */
export const keepAuthorities = async (
  ports: AuthorityPorts,
): Promise<{ signer: Authority | undefined; authorities: Authority[] }> => {
  for (let pass = 1; pass < MAX_PASSES; pass += 1) {
    const { authorities, isSettled } = await onConflictAgain(() => onePass(ports));
    if (isSettled) return { authorities, signer: signerOf(authorities, ports.clock(), ports.durations) };
  }
  throw new Error(`Secret ${AUTHORITY_SECRET} and ConfigMap ${BUNDLE_CONFIG_MAP} do not settle: another writer?`);
};

const onePass = async (ports: AuthorityPorts): Promise<{ authorities: Authority[]; isSettled: boolean }> => {
  const { kube, durations, clock, log } = ports;
  const now = clock();
  // In this order: a bundle that is replaced under this version cannot lack what another leader stored after we read the Secret.
  const bundle = await existing(ports, 'ConfigMap', BUNDLE_CONFIG_MAP);
  const secret = await existing(ports, 'Secret', AUTHORITY_SECRET);
  const published = bundle.data?.[BUNDLE_KEY] ?? '';
  const before = parseAuthorities(secret.data?.[AUTHORITIES_KEY]);
  // An empty list is an administrator's word that nothing signed so far is trusted; no list means that it was lost.
  const known = before ?? orphans(published, now);
  const { authorities, needsNew } = advance(known, new Set(certificatesIn(published).map(fingerprint)), now, durations);
  if (needsNew) authorities.push(await newAuthority(now, durations.authorityMs));

  if (JSON.stringify(authorities) !== JSON.stringify(before)) {
    const text = Buffer.from(JSON.stringify(authorities)).toString('base64');
    await kube.replace('Secret', { ...secret, data: { ...secret.data, [AUTHORITIES_KEY]: text } });
    log.info({ before: summary(before ?? []), after: summary(authorities) }, 'certificate authorities changed');
  }
  const wanted = authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('');
  if (wanted === published)
    return { authorities, isSettled: authorities.every(({ trustedSince }) => trustedSince !== undefined) };
  await kube.replace('ConfigMap', { ...bundle, data: { ...bundle.data, [BUNDLE_KEY]: wanted } });
  return { authorities, isSettled: false };
};

const existing = async <K extends 'Secret' | 'ConfigMap'>(
  { kube, namespace }: AuthorityPorts,
  kind: K,
  name: string,
): Promise<Kinds[K]> => {
  const object = await kube.get(kind, { namespace, name });
  if (object !== undefined) return object;
  throw new Error(`${kind} ${namespace}/${name} is missing: virtflow's manifests hold it, apply them again`);
};

const parseAuthorities = (base64: string | undefined): Authority[] | undefined => {
  if (base64 === undefined) return undefined;
  try {
    return stored.parse(JSON.parse(Buffer.from(base64, 'base64').toString()));
  } catch {
    // Without the cause: it would quote keys.
    throw new Error(
      `Secret ${AUTHORITY_SECRET} cannot be read: restore its ${AUTHORITIES_KEY}, or remove that for a new certificate authority`,
    );
  }
};

/** Certificates in a bundle whose keys nobody has any more: the Secret was lost. */
const orphans = (bundle: string, now: number): Authority[] =>
  adopted(
    certificatesIn(bundle).map((certificate) => ({
      id: fingerprint(certificate),
      certificate: certificate.toString(),
      madeAt: certificate.validFromDate.getTime(),
      expiresAt: certificate.validToDate.getTime(),
    })),
    now,
  );

/** A bundle that cannot be read counts as empty: it is written anew. */
const certificatesIn = (bundle: string): X509Certificate[] => {
  try {
    return readCertificates(bundle);
  } catch {
    return [];
  }
};

const summary = (authorities: readonly Authority[]): object[] =>
  authorities.map(({ id, expiresAt, retiredAt }) => ({
    id: id.slice(0, 12),
    until: new Date(expiresAt).toISOString(),
    ...(retiredAt === undefined ? {} : { retired: new Date(retiredAt).toISOString() }),
  }));
