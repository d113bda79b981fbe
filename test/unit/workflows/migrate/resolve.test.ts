import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MigrationEvidence } from '../../../../api/contract/migrations.ts';
import type { MigrationView } from '../../../../api/launcher/migration.ts';
import { resolve } from '../../../../workflows/migrate/resolve.ts';

const view = (role: MigrationView['role'], change: Partial<MigrationView>): MigrationView => ({
  ...{ migrationUid: 'm1', role, domain: 'none', job: false, postCopy: false, resumed: false, finalized: false },
  ...change,
});
const source = (change: Partial<MigrationView> = {}): MigrationView => view('source', { domain: 'active', ...change });
const target = (change: Partial<MigrationView> = {}): MigrationView =>
  view('target', { domain: 'incoming', ...change });
const stayed = { kind: 'sourceActive', cause: 'aborted', message: 'cancelled' } as const;
const gone = { domain: 'none', outcome: { kind: 'sourceGone' } } as const;

describe('the source answers', () => {
  test.each<[string, MigrationEvidence, string]>([
    ['it never began', { source: source(), target: target({ domain: 'none' }) }, 'bar'],
    ['it never heard of it', { source: source({ role: 'none' }) }, 'bar'],
    ['it carries it out', { source: source({ job: true }), target: target() }, 'underWay'],
    ['it was aborted', { source: source({ outcome: stayed }), target: target() }, 'stayed'],
    ['it was aborted, and the target is dead', { source: source({ outcome: stayed }) }, 'stayed'],
    [
      'it was aborted, and its guest has ended since',
      { source: source({ outcome: stayed, domain: 'none' }) },
      'stayed',
    ],
    [
      'it was aborted, and libvirt is silent since',
      { source: source({ outcome: stayed, domain: 'unknown' }) },
      'stayed',
    ],
    ['it is gone, the target holds the guest', { source: source(gone), target: target() }, 'resume'],
    [
      'it is gone, the target runs',
      { source: source(gone), target: target({ domain: 'active', resumed: true }) },
      'forward',
    ],
    [
      'it is gone, the target runs as libvirt says',
      { source: source(gone), target: target({ domain: 'active' }) },
      'resume',
    ],
    ['it is gone, the target has nothing', { source: source(gone), target: target({ domain: 'none' }) }, 'lost'],
    ['it is gone, the target is proven gone', { source: source(gone), targetProvenGone: true }, 'lost'],
    ['it is gone, the target is silent', { source: source(gone) }, 'unknown'],
    [
      'it is gone, the target does not know',
      { source: source(gone), target: target({ domain: 'unknown' }) },
      'unknown',
    ],
    ['it does not know its domain', { source: source({ domain: 'unknown' }), target: target() }, 'unknown'],
    [
      'it is not sure how it ended',
      { source: source({ outcome: { kind: 'unknown', message: 'libvirtd died' } }), target: target() },
      'unknown',
    ],
    [
      'it has no domain and is not sure how it ended',
      { source: source({ domain: 'none', outcome: { kind: 'unknown', message: '' } }), target: target() },
      'unknown',
    ],
    [
      'both say that they have it',
      { source: source(), target: target({ domain: 'active', resumed: true }) },
      'unknown',
    ],
    [
      'it is barred, and the target runs',
      { source: source({ outcome: stayed }), target: target({ domain: 'active', resumed: true }) },
      'unknown',
    ],
  ])('%s', (_, evidence, kind) => {
    expect(resolve(evidence).kind).toBe(kind);
  });
});

describe('the source is silent', () => {
  test.each<[string, MigrationEvidence, string]>([
    ['so is the target', {}, 'unknown'],
    ['the target holds the guest', { target: target() }, 'unknown'],
    ['the target has nothing', { target: target({ domain: 'none' }) }, 'unknown'],
    ['the target is proven gone', { targetProvenGone: true }, 'unknown'],
    ['the target was resumed', { target: target({ domain: 'active', resumed: true }) }, 'forward'],
    ['the target was resumed and has ended', { target: target({ domain: 'none', resumed: true }) }, 'forward'],
    ['it is proven gone, the target holds the guest', { sourceProvenGone: true, target: target() }, 'resume'],
    ['it is proven gone, the target too', { sourceProvenGone: true, targetProvenGone: true }, 'lost'],
    [
      'it is proven gone, the target has nothing',
      { sourceProvenGone: true, target: target({ domain: 'none' }) },
      'lost',
    ],
    ['it is proven gone, the target is silent', { sourceProvenGone: true }, 'unknown'],
  ])('%s', (_, evidence, kind) => {
    expect(resolve(evidence).kind).toBe(kind);
  });
});

describe('after the switch of a post-copy', () => {
  const there = target({ domain: 'active', resumed: true, postCopy: true });
  test.each<[string, MigrationEvidence, string]>([
    ['the rest follows', { source: source({ job: true, postCopy: true }), target: there }, 'underWay'],
    ['only the source answers', { source: source({ job: true, postCopy: true }) }, 'underWay'],
    ['only the target answers', { target: there }, 'underWay'],
    ['the source is done', { source: source(gone), target: there }, 'forward'],
    ['the source is proven gone', { sourceProvenGone: true, target: there }, 'forward'],
  ])('%s', (_, evidence, kind) => {
    expect(resolve(evidence).kind).toBe(kind);
  });
});

test('what the source says of its end is passed on', () => {
  expect(resolve({ source: source({ outcome: { ...stayed, cause: 'timeout', message: 'took too long' } }) })).toEqual({
    ...{ kind: 'stayed', cause: 'timeout', message: 'took too long' },
  });
});

const anyView = (role: 'source' | 'target'): fc.Arbitrary<MigrationView | undefined> =>
  fc.option(
    fc
      .record({
        domain: fc.constantFrom('none', 'incoming', 'active', 'unknown'),
        job: fc.boolean(),
        postCopy: fc.boolean(),
        resumed: role === 'target' ? fc.boolean() : fc.constant(false),
        outcome: fc.constantFrom(
          undefined,
          stayed,
          { kind: 'sourceGone' as const },
          { kind: 'unknown' as const, message: '' },
        ),
      })
      .map(({ outcome, ...rest }) =>
        view(role, { ...rest, ...(outcome === undefined || role === 'target' ? {} : { outcome }) }),
      ),
    { nil: undefined },
  );
const anyEvidence = fc
  .record({ source: anyView('source'), target: anyView('target'), a: fc.boolean(), b: fc.boolean() })
  .map(({ source, target, a, b }): MigrationEvidence => ({
    ...(source === undefined ? {} : { source }),
    ...(target === undefined ? {} : { target }),
    ...{ sourceProvenGone: a, targetProvenGone: b },
  }));
const holdsAlways = (holds: (evidence: MigrationEvidence, kind: string) => void): void =>
  fc.assert(fc.property(anyEvidence, (evidence) => holds(evidence, resolve(evidence).kind)));

test('a guest is resumed in the target only if the source is proven gone', () =>
  holdsAlways((evidence, kind) => {
    if (kind !== 'resume') return;
    expect(evidence.sourceProvenGone === true || evidence.source?.domain === 'none').toBe(true);
    expect(evidence.source?.outcome?.kind).not.toBe('sourceActive');
  }));

test('the target is given up only if the source is barred, or nobody has the guest', () =>
  holdsAlways((evidence, kind) => {
    if (kind === 'stayed') {
      expect(evidence.source?.outcome?.kind).toBe('sourceActive');
      expect(evidence.target?.resumed ?? false).toBe(false);
    }
    if (kind === 'lost' && evidence.targetProvenGone !== true)
      expect(['incoming', 'active', 'unknown']).not.toContain(evidence.target?.domain);
  }));

test('it goes forward only if the target was resumed and the source does not have the guest', () =>
  holdsAlways((evidence, kind) => {
    if (kind !== 'forward') return;
    expect(evidence.target?.resumed).toBe(true);
    expect(evidence.source?.domain).not.toBe('active');
  }));
