import { expect, test } from '@jest/globals';
import { nothingToCancel, switchedOver, whatBecame } from '../../../../cli/migration/cancelled.ts';
import { summarize } from '../../../../cli/migration/summary.ts';
import { NAME, at, migration, report, running, told } from './samples.ts';

const last = migration('Running', { deleting: true });
const ready = { migrationUid: 'uid-kubevirt-migrate-vm-abc', targetNodeDomainReadyTimestamp: at(3) };

test.each([
  ['the VMI says so', running([], { migrationState: ready }), true],
  ['the VMI says so of another migration', running([], { migrationState: { ...ready, migrationUid: 'x' } }), false],
  ['nobody says so', running(), false],
])('the guest has been switched over if %s', (_, vmi, expected) => {
  expect(switchedOver(last, vmi)).toBe(expected);
});

const became = (word: Parameters<typeof told>[0] | undefined, vmi: ReturnType<typeof running> | undefined) =>
  whatBecame(summarize({ last, gone: true, vmi: vmi ?? running(), told: word && told(word) }, at(9)), vmi, NAME);

test('a cancelled migration leaves the guest where it was', () => {
  expect(became(report('Failed', { abort: 'succeeded' }), running())).toEqual({
    cancelled: true,
    text: 'kubevirt-migrate-vm-abc is cancelled; web runs on node-a',
  });
});

test('one that was over before is told as it ended', () => {
  const failure = { type: 'MigrationFailed' as const, message: 'timeout.' };
  expect(became(report('Failed', { abort: 'failed', failure }), running())).toEqual({
    cancelled: true,
    text: 'kubevirt-migrate-vm-abc had failed before it could be cancelled (timeout); web runs on node-a',
  });
  const moved = became(report('Succeeded'), running([], { nodeName: 'node-b' }));
  expect(moved.cancelled).toBe(false);
  expect(moved.text).toMatch(/too late.*web runs on node-b.*virtflow migrate web -n prod/);
});

test('without a word of how it ended, the node of the guest tells', () => {
  expect(became(undefined, running())).toMatchObject({ cancelled: true });
  const migrationState = { migrationUid: 'uid-kubevirt-migrate-vm-abc', targetNode: 'node-b' };
  expect(became(undefined, running([], { nodeName: 'node-b', migrationState })).cancelled).toBe(false);
});

test('a VM that ended meanwhile has no guest to leave anywhere', () => {
  expect(became(report('Failed', { abort: 'succeeded' }), undefined).text).toContain('has no instance any more');
});

test('with nothing to cancel, a migration that has just succeeded is named', () => {
  expect(nothingToCancel(NAME, undefined)).toBe('web is not being migrated: there is nothing to cancel.');
  expect(nothingToCancel(NAME, migration('Failed'))).toMatch(/nothing to cancel\.$/);
  expect(nothingToCancel(NAME, migration('Succeeded'))).toMatch(/abc, has succeeded.*migrate web -n prod/);
});

test('of one that came too late it is said where its story is', () => {
  const { text } = became(report('Succeeded'), running([], { nodeName: 'node-b' }));
  expect(text).toContain('virtflow history web -n prod has it');
});
