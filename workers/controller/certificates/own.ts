import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { PeerCredentials, TlsCredentials } from '../../../api/contract/certificates.ts';
import { BUNDLE_REFRESH_MS, renewalTime } from '../../shared/certificates/certificate.ts';
import { exportKey, newKeyPair } from '../../shared/certificates/x509.ts';
import type { Logger } from '../../shared/logging.ts';
import { readAuthorities } from './authorities.ts';
import type { Subject } from './issue.ts';
import { issue } from './issue.ts';
import type { Authority, Durations } from './rotation.ts';
import { signerOf } from './rotation.ts';

export interface OwnCredentialsOptions {
  kube: Pick<KubePort, 'get'>;
  /** Namespace of virtflow. */
  namespace: string;
  durations: Durations;
  /** For whom the certificate is; the key is made here. */
  subject: Omit<Subject, 'publicKey'>;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  signal: AbortSignal;
  clock?: () => number;
  /** Between two looks at the authorities, in ms. */
  passMs?: number;
}

/** Until there is an authority that signs: the leader makes it within seconds. In ms. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

/**
 * A certificate of this controller process, every replica its own: it may read the authorities' keys, so that it needs no request. Key and certificate
 * stay in memory. Renewed after two thirds of its time, and when its authority is not trusted any more.
 */
export const ownCredentials = (options: OwnCredentialsOptions): PeerCredentials & { done: Promise<void> } => {
  const {
    kube,
    namespace,
    durations,
    subject,
    log,
    signal,
    clock = Date.now,
    passMs = BUNDLE_REFRESH_MS / 2,
  } = options;
  let own: (TlsCredentials & { leaf: X509Certificate; authority: string }) | undefined;
  let problem = 'no authority signs yet';
  const listeners = new Set<() => void>();
  const first = Promise.withResolvers<void>();

  const isDue = (authorities: readonly Authority[]): boolean =>
    own === undefined ||
    !authorities.some(({ id }) => id === own?.authority) ||
    renewalTime(own.leaf.validFromDate.getTime(), own.leaf.validToDate.getTime()) <= clock();

  /** True when there was something to do. */
  const renew = async (authorities: readonly Authority[], ca: string): Promise<boolean> => {
    if (!isDue(authorities)) {
      if (own === undefined || own.ca === ca) return false;
      own = { ...own, ca };
      return true;
    }
    const signer = signerOf(authorities, clock(), durations);
    if (signer === undefined) throw new Error('no authority signs yet');
    const keys = await newKeyPair();
    const cert = await issue(signer, { ...subject, publicKey: keys.publicKey }, clock(), durations.certificateMs);
    own = { cert, key: await exportKey(keys.privateKey), ca, leaf: new X509Certificate(cert), authority: signer.id };
    log.info({ subject: subject.commonName, until: own.leaf.validToDate.toISOString() }, 'new certificate');
    return true;
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      try {
        const { authorities, bundle } = await readAuthorities(kube, namespace);
        if (await renew(authorities, bundle)) {
          first.resolve();
          for (const listener of listeners) listener();
        }
        failures = 0;
        problem = '';
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        log.debug({ err: error, subject: subject.commonName }, 'no new certificate; trying again');
        failures += 1;
      }
      const wait = failures === 0 ? passMs : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  };

  const isValid = (): boolean => own !== undefined && own.leaf.validToDate.getTime() > clock();
  return {
    current: () => (own !== undefined && isValid() ? { cert: own.cert, key: own.key, ca: own.ca } : undefined),
    onChange: (listener) => void listeners.add(listener),
    ready: first.promise,
    detail: () => {
      if (own === undefined || !isValid()) return `no certificate: ${problem}`;
      const until = `certificate until ${own.leaf.validToDate.toISOString()}`;
      return problem === '' ? until : `${until}; the authorities are not read: ${problem}`;
    },
    done: run(),
  };
};
