import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { PeerCredentials, TlsCredentials } from '../../../api/contract/certificates.ts';
import { BUNDLE_CONFIG_MAP, BUNDLE_KEY } from '../../../api/contract/certificates.ts';
import { BUNDLE_REFRESH_MS, readCertificates } from '../../shared/certificates/certificate.ts';
import type { Logger } from '../../shared/logging.ts';
import { obtainCertificate, RequestRefused } from './obtain.ts';
import { assertOwn, isIssuedByOne, renewalDelay } from './renewal.ts';
import { loadCredentials, saveCredentials } from './store.ts';

export interface CredentialsOptions {
  node: string;
  kube: Pick<KubePort, 'get' | 'create'>;
  /** Namespace of virtflow. */
  namespace: string;
  /** Where key and certificate are kept over a restart of the worker, on the node. */
  directory: string;
  log: Logger;
  signal: AbortSignal;
  clock?: () => number;
  /** Between two reads of the trusted authorities, in ms. */
  bundlePollMs?: number;
}

export interface NodeCredentials extends PeerCredentials {
  /** When the certificate expires, in ms. */
  expiresAt(): number | undefined;
  /** Settles after the signal. */
  done: Promise<void>;
}

/** Longest wait after a request that was refused (each leaves an object for an hour), in ms. */
const MAX_REFUSED_MS = 300_000;
/** Longest wait after any other failure: an API server that is back is noticed soon. */
const MAX_BACKOFF_MS = 10_000;

const backoff = (attempt: number, limitMs: number): number =>
  Math.min(limitMs, 500 * 2 ** Math.min(attempt, 20)) * (0.5 + Math.random() / 2);

/** The certificate of this node's worker: obtained, kept, renewed until the signal. Nothing but the migration proxy needs it. */
export const nodeCredentials = (options: CredentialsOptions): NodeCredentials => {
  const { node, kube, namespace, directory, log, signal, clock = Date.now } = options;
  const { bundlePollMs = BUNDLE_REFRESH_MS / 2 } = options;
  let own: { cert: string; key: string; leaf: X509Certificate } | undefined;
  let ca = '';
  let authorities: X509Certificate[] = [];
  let problem: string | undefined;
  let bell = new AbortController();
  const listeners = new Set<() => void>();
  const first = Promise.withResolvers<void>();

  const isValid = (): boolean => own !== undefined && own.leaf.validToDate.getTime() > clock();
  const tell = (): void => {
    if (!isValid()) return;
    first.resolve();
    for (const listener of listeners) listener();
  };
  const keep = (): Promise<void> =>
    own === undefined ? Promise.resolve() : saveCredentials(directory, { cert: own.cert, key: own.key, ca }, log);

  const trust = (pem: string): boolean => {
    if (pem === ca) return false;
    const next = readCertificates(pem);
    if (next.length === 0) throw new Error(`ConfigMap ${namespace}/${BUNDLE_CONFIG_MAP} holds no certificate yet`);
    ca = pem;
    authorities = next;
    return true;
  };
  const readBundle = async (): Promise<boolean> => {
    const bundle = await kube.get('ConfigMap', { namespace, name: BUNDLE_CONFIG_MAP });
    return trust(bundle?.data?.[BUNDLE_KEY] ?? '');
  };

  const pause = (ms: number): Promise<void> =>
    delay(Math.min(ms, 2 ** 31 - 1), undefined, { signal: AbortSignal.any([signal, bell.signal]) }).catch(
      () => undefined,
    );

  const followBundle = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        if (await readBundle()) {
          await keep();
          tell();
          bell.abort();
        }
      } catch (error) {
        log.debug({ err: error }, 'trusted authorities not read; the last known ones stay');
      }
      const wait = authorities.length === 0 ? backoff(attempt, MAX_BACKOFF_MS) : bundlePollMs;
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  };

  const renew = async (): Promise<void> => {
    const { cert, key } = await obtainCertificate({ node, kube, signal });
    const leaf = new X509Certificate(cert);
    assertOwn(leaf, key, node);
    // The authority may be newer than our last look.
    if (!isIssuedByOne(leaf, authorities)) await readBundle();
    if (!isIssuedByOne(leaf, authorities))
      throw new Error('the new certificate is of an authority that is not trusted');
    own = { cert, key, leaf };
    log.info({ until: leaf.validToDate.toISOString() }, 'new certificate');
    await keep();
    tell();
  };

  const keepRenewed = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      bell = new AbortController();
      const wait = renewalDelay(own?.leaf, authorities, clock());
      if (wait > 0) {
        await pause(wait);
        continue;
      }
      try {
        await renew();
        failures = 0;
        problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        problem = error instanceof Error ? error.message : String(error);
        log.warn({ err: error }, 'no new certificate; trying again');
        failures += 1;
        const longest = error instanceof RequestRefused ? MAX_REFUSED_MS : MAX_BACKOFF_MS;
        await delay(backoff(failures, longest), undefined, { signal }).catch(() => undefined);
      }
    }
  };

  const run = async (): Promise<void> => {
    const stored = await loadCredentials(directory, node, clock(), log);
    if (stored !== undefined) {
      trust(stored.ca);
      own = { cert: stored.cert, key: stored.key, leaf: new X509Certificate(stored.cert) };
      tell();
    }
    await Promise.all([followBundle(), keepRenewed()]);
  };

  return {
    current: (): TlsCredentials | undefined =>
      own !== undefined && isValid() ? { cert: own.cert, key: own.key, ca } : undefined,
    onChange: (listener) => void listeners.add(listener),
    ready: first.promise,
    detail() {
      if (own === undefined || !isValid())
        return `no certificate: ${problem ?? 'the controller has not signed it yet'}`;
      const until = `certificate until ${own.leaf.validToDate.toISOString()}`;
      return problem === undefined ? until : `${until}; not renewed: ${problem}`;
    },
    expiresAt: () => own?.leaf.validToDate.getTime(),
    done: run(),
  };
};
