import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Authority, Durations } from '../../../../../workers/controller/certificates/rotation.ts';
import {
  adopted,
  advance,
  durationsProblem,
  signerOf,
} from '../../../../../workers/controller/certificates/rotation.ts';
import { BUNDLE_REFRESH_MS } from '../../../../../workers/shared/certificates/certificate.ts';

const hour = 3_600_000;
const durations: Durations = { authorityMs: 900 * hour, certificateMs: 24 * hour, trustDelayMs: 12 * hour };

const authority = (id: string, madeAt: number, more: Partial<Authority> = {}): Authority => ({
  ...{ id, certificate: id, key: `key of ${id}`, madeAt, expiresAt: madeAt + durations.authorityMs },
  ...more,
});
const trusted = (id: string, madeAt: number, more: Partial<Authority> = {}): Authority =>
  authority(id, madeAt, { trustedSince: madeAt, ...more });
const retired = (id: string, madeAt: number, retiredAt: number): Authority => {
  const { key: _, ...rest } = trusted(id, madeAt, { retiredAt });
  return rest;
};

test.each<[string, number, Authority[], string | undefined]>([
  ['nobody', 0, [], undefined],
  ['not one that was never seen in the bundle', 1, [authority('a', 0)], undefined],
  ['the first as soon as it is in the bundle', 0, [trusted('a', 0)], 'a'],
  ['not the next one before the delay', 612 * hour - 1, [trusted('a', 0), trusted('b', 600 * hour)], 'a'],
  ['the next one after the delay', 612 * hour, [trusted('a', 0), trusted('b', 600 * hour)], 'b'],
  ['not one without key', 2 * hour, [retired('a', 0, hour)], undefined],
  ['not one that has expired', 900 * hour, [trusted('a', 0)], undefined],
  [
    'of lost keys: not before everybody read the bundle',
    2 * 60_000 - 1,
    [retired('a', 0, 0), trusted('b', 0)],
    undefined,
  ],
  ['of lost keys: no later than that', 2 * 60_000, [retired('a', 0, 0), trusted('b', 0)], 'b'],
])('who signs: %s', (_, now, all, expected) => {
  expect(signerOf(all, now, durations)?.id).toBe(expected);
});

/** `id` (of a retired one with its time), in the order of the bundle. */
const words = (authorities: readonly Authority[]): string[] =>
  authorities.map(({ id, key, retiredAt }) =>
    retiredAt === undefined ? id : `${id} retired at ${retiredAt / hour} h${key === undefined ? '' : ' with key'}`,
  );

test.each<[string, number, Authority[], string[], string[], boolean]>([
  ['nothing yet', 0, [], [], [], true],
  ['a young one', 599 * hour, [trusted('a', 0)], ['a'], ['a'], false],
  ['after two thirds', 600 * hour, [trusted('a', 0)], ['a'], ['a'], true],
  ['the next one waits', 601 * hour, [trusted('a', 0), authority('b', 600 * hour)], ['a', 'b'], ['a', 'b'], false],
  [
    'the next one signs',
    612 * hour,
    [trusted('a', 0), trusted('b', 600 * hour)],
    ['a', 'b'],
    ['a retired at 612 h', 'b'],
    false,
  ],
  [
    'certificates of the old one may still be valid',
    636 * hour,
    [retired('a', 0, 612 * hour), trusted('b', 600 * hour)],
    ['a', 'b'],
    ['a retired at 612 h', 'b'],
    false,
  ],
  [
    'no certificate of the old one can be valid',
    637 * hour,
    [retired('a', 0, 612 * hour), trusted('b', 600 * hour)],
    ['a', 'b'],
    ['b'],
    false,
  ],
  ['all expired while nobody led', 5000 * hour, [trusted('a', 0), trusted('b', 600 * hour)], ['a', 'b'], [], true],
])('what becomes of them: %s', (_, now, before, published, expected, needsNew) => {
  const after = advance(before, new Set(published), now, durations);
  expect(words(after.authorities)).toEqual(expected);
  expect(after.needsNew).toBe(needsNew);
  // Nothing more happens at the same time.
  expect(advance(after.authorities, new Set(published), now, durations)).toEqual(after);
});

test('it is trusted from when it was first seen in the bundle, not from when it was made', () => {
  const made = [trusted('a', 0), authority('b', 600 * hour)];
  const unseen = advance(made, new Set(['a']), 611 * hour, durations).authorities;
  expect(unseen[1]?.trustedSince).toBeUndefined();
  const seen = advance(unseen, new Set(['a', 'b']), 612 * hour, durations).authorities;
  expect(seen[1]?.trustedSince).toBe(612 * hour);
  expect(signerOf(seen, 613 * hour, durations)?.id).toBe('a');
});

test('authorities whose keys were lost stay trusted for the life of a certificate and never sign', () => {
  const orphans = adopted([{ id: 'a', certificate: 'a', madeAt: 0, expiresAt: 900 * hour }], 100 * hour);
  expect(signerOf(orphans, 101 * hour, durations)).toBeUndefined();
  expect(advance(orphans, new Set(['a']), 124 * hour, durations)).toMatchObject({
    authorities: [{ id: 'a' }],
    needsNew: true,
  });
  expect(advance(orphans, new Set(['a']), 125 * hour, durations).authorities).toEqual([]);
});

test.each<[string, Durations, boolean]>([
  ['defaults', { authorityMs: 365 * 24 * hour, certificateMs: 24 * hour, trustDelayMs: 24 * hour }, true],
  ['exactly a third', { authorityMs: 108 * hour, certificateMs: 24 * hour, trustDelayMs: 12 * hour }, true],
  ['too long a certificate', { authorityMs: 108 * hour, certificateMs: 25 * hour, trustDelayMs: 12 * hour }, false],
])('durations: %s', (_, given, works) => {
  expect(durationsProblem(given) === undefined).toBe(works);
});

/** A certificate as a worker holds it. */
interface Leaf {
  issuer: string;
  until: number;
}

/**
 * The leader's part over any course of events: it looks at any times (or not at all for long), signs at any moment between, its writes of the bundle
 * get lost, and its Secret may be lost once. Workers read the bundle at least every BUNDLE_REFRESH_MS.
 */
test('overlap: whoever read the bundle in the last minute trusts every valid certificate, at every moment', () => {
  const brisk: Durations = { authorityMs: 90 * hour, certificateMs: 10 * hour, trustDelayMs: 12 * hour };
  const event = fc.record({
    waitMs: fc.oneof(
      fc.integer({ min: 1, max: 59_000 }),
      fc.integer({ min: 1, max: 12 }).map((hours) => hours * hour),
      fc.constantFrom(30 * hour, 60 * hour),
    ),
    signs: fc.boolean(),
    publishes: fc.boolean(),
    losesSecret: fc.integer({ min: 0, max: 59 }).map((n) => n === 30),
  });
  const course = fc.array(event, { minLength: 40, maxLength: 120 });
  fc.assert(
    fc.property(course, (events) => {
      let now = 0;
      let made = 0;
      let secret: Authority[] = [];
      let bundle: Authority[] = [];
      // Every state of the bundle with the time until which it stood.
      const pasts: { ids: Set<string>; until: number }[] = [];
      let leaves: Leaf[] = [];
      for (const { waitMs, signs, publishes, losesSecret } of events) {
        now += waitMs;
        leaves = leaves.filter(({ until }) => until > now);
        // Who has no certificate reads the bundle when it gets one of an authority that it does not know.
        if (leaves.length === 0) pasts.length = 0;
        if (losesSecret) secret = [];
        const known =
          secret.length > 0
            ? secret
            : adopted(
                bundle.map(({ key: _, ...rest }) => rest),
                now,
              );
        const next = advance(known, new Set(bundle.map(({ id }) => id)), now, brisk);
        secret = next.needsNew
          ? [...next.authorities, authority(`ca-${(made += 1)}`, now, { expiresAt: now + brisk.authorityMs })]
          : next.authorities;
        if (publishes) {
          pasts.push({ ids: new Set(bundle.map(({ id }) => id)), until: now });
          bundle = secret;
        }
        const signer = signerOf(secret, now, brisk);
        if (signs && signer !== undefined) {
          leaves.push({ issuer: signer.id, until: Math.min(signer.expiresAt, now + brisk.certificateMs) });
        }
        const views = [
          new Set(bundle.map(({ id }) => id)),
          ...pasts.filter(({ until, ids }) => ids.size > 0 && now - until < BUNDLE_REFRESH_MS).map(({ ids }) => ids),
        ];
        for (const { issuer } of leaves) {
          for (const view of views) expect(view).toContain(issuer);
        }
      }
    }),
    { numRuns: 300 },
  );
});
