import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PeerCredentials, TlsCredentials } from '../../../api/contract/certificates.ts';
import { renewalTime } from '../../shared/certificates/certificate.ts';
import { exportKey, newKeyPair, PublicKey } from '../../shared/certificates/x509.ts';
import type { AuthorityPorts } from './authorities.ts';
import { keepAuthorities } from './authorities.ts';
import type { Subject } from './issue.ts';
import { issue } from './issue.ts';
import type { Authority } from './rotation.ts';

export interface OwnCredentialsOptions extends AuthorityPorts {
  /** For whom: whatever else a certificate says. */
  subject: Omit<Subject, 'publicKey'>;
  signal: AbortSignal;
  /** Told of all trusted authorities (PEM) after every look, before the first certificate that needs them is used. */
  onTrust?: (ca: string) => Promise<void>;
  /** Between two looks at the authorities, in ms. */
  passMs?: number;
}

export interface OwnCredentials extends PeerCredentials {
  /** When the certificate expires, in ms. */
  expiresAt(): number | undefined;
  /** Settles after the signal. */
  done: Promise<void>;
}

const PASS_MS = 30_000;
/** After a failure twice this, and twice that with each further one. */
const RETRY_MS = 500;

interface Own extends TlsCredentials {
  leaf: X509Certificate;
  issuer: string;
}

/**
 * A certificate of this controller worker's own, of virtflow's authorities, renewed until the signal. Its key never leaves the process. Every replica looks
 * after the authorities itself (the Secret is its leader's too), so that it needs neither a leader nor Temporal.
 */
export const ownCredentials = (options: OwnCredentialsOptions): OwnCredentials => {
  const { clock, signal, log, subject, durations, onTrust, passMs = PASS_MS } = options;
  let own: Own | undefined;
  let problem = 'the authorities were not read yet';
  const listeners = new Set<() => void>();
  const first = Promise.withResolvers<void>();

  const isDue = ({ leaf, issuer }: Own, authorities: readonly Authority[]): boolean =>
    !authorities.some(({ id }) => id === issuer) ||
    renewalTime(leaf.validFromDate.getTime(), leaf.validToDate.getTime()) <= clock();

  const pass = async (): Promise<void> => {
    const { signer, authorities } = await keepAuthorities(options);
    const ca = authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('');
    await onTrust?.(ca);
    if (own !== undefined && !isDue(own, authorities)) {
      if (own.ca !== ca) become({ ...own, ca });
      return;
    }
    if (signer === undefined) throw new Error('a new authority waits until every worker trusts it');
    const keys = await newKeyPair();
    const publicKey = await PublicKey.create(keys.publicKey);
    const cert = await issue(signer, { ...subject, publicKey }, clock(), durations.certificateMs);
    const leaf = new X509Certificate(cert);
    become({ cert, key: await exportKey(keys.privateKey), ca, leaf, issuer: signer.id });
    log.info({ subject: subject.commonName, until: leaf.validToDate.toISOString() }, 'new certificate of our own');
  };

  const become = (next: Own): void => {
    own = next;
    first.resolve();
    for (const listener of listeners) listener();
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      try {
        await pass();
        failures = 0;
        problem = '';
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== problem) log.warn({ err: error, subject: subject.commonName }, 'certificate not looked after');
        problem = reason;
        failures += 1;
      }
      const wait = failures === 0 ? passMs : Math.min(passMs, RETRY_MS * 2 ** failures);
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  };

  const isValid = (): boolean => own !== undefined && own.leaf.validToDate.getTime() > clock();
  return {
    current: () => (own !== undefined && isValid() ? { cert: own.cert, key: own.key, ca: own.ca } : undefined),
    onChange: (listener) => void listeners.add(listener),
    ready: first.promise,
    detail() {
      if (own === undefined || !isValid()) return `no certificate: ${problem}`;
      const until = `certificate until ${own.leaf.validToDate.toISOString()}`;
      return problem === '' ? until : `${until}; ${problem}`;
    },
    expiresAt: () => own?.leaf.validToDate.getTime(),
    done: run(),
  };
};
