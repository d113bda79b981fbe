import { BUNDLE_REFRESH_MS, renewalTime } from '../../shared/certificates/certificate.ts';

/** A certificate authority; times in ms. */
export interface Authority {
  /** Fingerprint of the certificate. */
  id: string;
  /** PEM. */
  certificate: string;
  /** PKCS #8, PEM; destroyed when another one signs. */
  key?: string;
  madeAt: number;
  expiresAt: number;
  /** When its certificate was first seen in the bundle. */
  trustedSince?: number;
  /** When it signed for the last time. */
  retiredAt?: number;
}

/** How long things live, in ms. */
export interface Durations {
  authorityMs: number;
  /** Certificates of workers. */
  certificateMs: number;
  /** How long a new authority is trusted before it signs. */
  trustDelayMs: number;
}

/** When nobody else can sign, a new authority waits until every worker has read the bundle again and no longer, in ms. */
const URGENT_DELAY_MS = 2 * BUNDLE_REFRESH_MS;
/** For clocks that differ, and for a leader that does not know yet that it leads no longer, in ms. */
const MARGIN_MS = 600_000;

/**
 * Why these durations do not work; undefined: they do. An authority's last third must hold the delay before the next one signs and the whole life of
 * a certificate that it signed just before.
 */
export const durationsProblem = ({ authorityMs, certificateMs, trustDelayMs }: Durations): string | undefined =>
  trustDelayMs + certificateMs <= authorityMs / 3
    ? undefined
    : 'a third of CERTIFICATE_AUTHORITY_SECONDS must be at least CERTIFICATE_TRUST_DELAY_SECONDS and CERTIFICATE_SECONDS together';

const canSign = ({ key, trustedSince }: Authority): boolean => key !== undefined && trustedSince !== undefined;

/** From when on an authority may sign: everybody who reads the bundle trusts it by then. */
const signsFrom = (authority: Authority, all: readonly Authority[], { trustDelayMs }: Durations): number => {
  if (!canSign(authority)) return Infinity;
  const others = all.filter((other) => other !== authority);
  const since = authority.trustedSince ?? Infinity;
  // The first one of all: nobody has a certificate that others would have to trust meanwhile.
  if (others.length === 0) return since;
  return since + (others.some(canSign) ? trustDelayMs : Math.min(trustDelayMs, URGENT_DELAY_MS));
};

/** The authority that signs at `now`: the newest of those that may. Undefined: nobody can get a certificate yet. */
export const signerOf = (all: readonly Authority[], now: number, durations: Durations): Authority | undefined =>
  all.findLast((authority) => authority.expiresAt > now && signsFrom(authority, all, durations) <= now);

/**
 * What becomes of the authorities (oldest first) at `now`, when the bundle that workers read holds those with the ids `published`: which are
 * dropped, which one signs, and whether a new one is due. An authority is dropped only when no certificate of it can be valid any more.
 */
export const advance = (
  before: readonly Authority[],
  published: ReadonlySet<string>,
  now: number,
  durations: Durations,
): { authorities: Authority[]; needsNew: boolean } => {
  const isOver = ({ expiresAt, retiredAt = Infinity }: Authority): boolean =>
    expiresAt <= now || retiredAt + durations.certificateMs + MARGIN_MS <= now;
  const kept = before
    .filter((authority) => !isOver(authority))
    .map((authority) =>
      authority.trustedSince === undefined && published.has(authority.id)
        ? { ...authority, trustedSince: now }
        : authority,
    );
  const signer = signerOf(kept, now, durations);
  const older = signer === undefined ? 0 : kept.indexOf(signer);
  const authorities = kept.map((authority, index) =>
    index < older && authority.retiredAt === undefined ? retired(authority, now) : authority,
  );
  const newest = authorities.findLast(({ key }) => key !== undefined);
  return { authorities, needsNew: newest === undefined || renewalTime(newest.madeAt, newest.expiresAt) <= now };
};

const retired = ({ key: _, ...authority }: Authority, now: number): Authority => ({ ...authority, retiredAt: now });

/** Authorities whose keys are lost, known by the bundle alone: trusted until no certificate of theirs can be valid. */
export const adopted = (
  bundle: readonly Pick<Authority, 'id' | 'certificate' | 'madeAt' | 'expiresAt'>[],
  now: number,
): Authority[] => bundle.map((authority) => ({ ...authority, trustedSince: now, retiredAt: now }));
