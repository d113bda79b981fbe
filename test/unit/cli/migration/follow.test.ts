import { expect, test } from '@jest/globals';
import type { KubePort } from '../../../../activities/kube/port.ts';
import { inLines } from '../../../../cli/display.ts';
import { follow, shownOf } from '../../../../cli/migration/follow.ts';
import type { Migration } from '../../../../cli/migration/objects.ts';
import { NUMBERS, at, migration, report, told } from './samples.ts';

/** An API server that gives these versions of the object, one a read; the last one stays. */
const versions = (...all: (Migration | undefined)[]): Pick<KubePort, 'get'> => ({
  get: () => Promise.resolve((all.length > 1 ? all.shift() : all[0]) as never),
});
const silent = { heard: () => ({ silence: 'Temporal at x cannot be reached.' }) };
const run = async (kube: Pick<KubePort, 'get'>, until?: number) => {
  const lines: string[] = [];
  const display = inLines((line) => lines.push(line));
  const followed = await follow(kube, migration(''), silent, display, { pollMs: 1, ...(until && { until }) });
  return { ...followed, lines };
};

test('without Temporal it is followed by its phases until it is over, a line each', async () => {
  const kube = versions(migration(''), migration('Scheduling'), migration('Running'), migration('Succeeded'));
  const { last, gone, late, lines } = await run(kube);
  expect({ phase: last.status?.phase, gone, late }).toEqual({ phase: 'Succeeded', gone: false, late: false });
  expect(lines.map((line) => line.split(':')[0])).toEqual(['Pending', 'Scheduling', 'Running', 'Succeeded']);
  expect(lines[0]).toBe('Pending: no details: Temporal at x cannot be reached');
});

test('an object that is gone, or replaced by another of its name, ends it with what was seen last', async () => {
  expect(await run(versions(migration('Running'), undefined))).toMatchObject({
    gone: true,
    last: { status: { phase: 'Running' } },
  });
  const other = { ...migration('Pending'), metadata: { ...migration('').metadata, uid: 'another' } };
  expect(await run(versions(migration('Running'), other))).toMatchObject({
    gone: true,
    last: { status: { phase: 'Running' } },
  });
});

test('a person who waits no longer is told so', async () => {
  expect(await run(versions(migration('Running')), Date.now() - 1)).toMatchObject({ late: true, gone: false });
});

test('while memory is copied, share, bytes, pass and rate are shown', () => {
  const progress = { ...NUMBERS, remainingBytes: 2 ** 28, transferRate: 100 * 2 ** 20, throttle: 20 };
  const shown = shownOf(migration('Running'), { progress, status: told(report('Running')) }, at(3));
  expect(shown.headline).toBe('Running (node-a → node-b)');
  expect(shown.detail).toMatch(
    /^█+░+ 75 % · 300 MiB sent, 256 MiB of 1.0 GiB left · pass 3 · 100 MiB\/s · guest slowed down by 20 %$/,
  );
});

test('a step that waits says why and until when, in a line of its own', () => {
  const failure = { type: 'QuotaExceeded' as const, message: 'no room' };
  const step = { name: 'CreateTargetPod', startedAt: at(0), attempts: 2, state: 'waiting' as const };
  const status = told(report('Scheduling'), { steps: [{ ...step, failure, nextTryAt: at(13) }] });
  expect(shownOf(migration('Scheduling'), { status }, at(3)).headline).toBe(
    'Scheduling (node-a → node-b), waiting in CreateTargetPod: QuotaExceeded: no room (next try in 10 s)',
  );
});

test('a step that runs is named with its time, and a deleted migration is being cancelled', () => {
  const step = { name: 'AwaitTargetPod', startedAt: at(0), attempts: 1, state: 'running' as const };
  const status = told(report('Scheduling'), { steps: [step] });
  const deleted = migration('Scheduling', { deleting: true });
  expect(shownOf(deleted, { status }, at(3))).toEqual({
    headline: 'cancelling (node-a → node-b)',
    detail: 'AwaitTargetPod, 3.0 s',
  });
});

test.each([
  ['Waiting', 'QuotaExceeded', 'waiting: QuotaExceeded: no room'],
  ['MigrationOutcomeUnknown', 'Unproven', 'outcome unknown: no room'],
])('without Temporal the condition %s tells what stands in the way', (type, reason, text) => {
  const conditions = [{ type, status: 'True', reason, message: 'no room' }];
  const migrationState = { sourceNode: 'node-a', targetNode: 'node-b' };
  const seen = migration('Scheduling', { status: { conditions, migrationState } });
  expect(shownOf(seen, { silence: 'x' }, at(3))).toEqual({ headline: `Scheduling (node-a → node-b), ${text}` });
});

test('an outcome that nobody knows is said as such', () => {
  const status = told(report('Running', { outcomeUnknown: 'node-a is silent' }));
  expect(shownOf(migration('Running'), { status }, at(3)).headline).toContain('outcome unknown: node-a is silent');
});

test('until the transfer has numbers it is said to connect', () => {
  const progress = { ...NUMBERS, totalBytes: 0, remainingBytes: 0, processedBytes: 0, iterations: 0 };
  const shown = shownOf(migration('Running'), { progress, status: told(report('Running')) }, at(3));
  expect(shown.detail).toBe('connecting …');
});

test('a step of another phase is not told: object and workflow are read at different moments', () => {
  const step = (name: string) => ({ name, startedAt: at(0), attempts: 1, state: 'running' as const });
  const shown = (phase: string, name: string) =>
    shownOf(migration(phase), { status: told(report('Running'), { steps: [step(name)] }) }, at(3)).detail;
  expect(shown('Running', 'PrepareMigrationTarget')).toBeUndefined();
  expect(shown('Succeeded', 'MoveToken')).toBeUndefined();
  expect(shown('Running', 'MoveToken')).toBe('MoveToken, 3.0 s');
  expect(shown('Failed', 'Undo CreateTargetPod')).toBe('Undo CreateTargetPod, 3.0 s');
});
