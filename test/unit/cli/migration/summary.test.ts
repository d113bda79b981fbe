import { expect, test } from '@jest/globals';
import { sentence } from '../../../../cli/migration/sentence.ts';
import { renderSummary, summarize, type Ended } from '../../../../cli/migration/summary.ts';
import { NAME, NUMBERS, at, migration, report, running, told } from './samples.ts';

const UID = 'uid-kubevirt-migrate-vm-abc';
const outcome = (ended: Partial<Ended>) =>
  summarize({ last: migration('Running'), gone: false, ...ended }, at(9)).outcome;

test('the workflow tells phases, bytes, passes, downtime and nodes', () => {
  const ended = {
    last: migration('Succeeded'),
    gone: false,
    told: told(report('Succeeded', { numbers: NUMBERS, endedAt: at(5) })),
  };
  const summary = summarize(ended, at(9));
  expect(summary).toMatchObject({
    outcome: 'succeeded',
    ...{ source: 'node-a', target: 'node-b', bytes: NUMBERS.processedBytes, iterations: 3, downtimeMs: 84.6 },
    phases: [{ phase: 'Pending', tookMs: 2000 }, { phase: 'Running', tookMs: 3000 }, { phase: 'Succeeded' }],
  });
  const text = renderSummary(summary);
  for (const part of ['Running', '3.0 s', 'in all', '5.0 s', 'node-a', 'node-b', '300 MiB in 3 passes', '85 ms'])
    expect(text).toContain(part);
});

test('without Temporal the objects tell phases and nodes', () => {
  const phaseTransitionTimestamps = [
    { phase: 'Pending', phaseTransitionTimestamp: at(0) },
    { phase: 'Failed', phaseTransitionTimestamp: at(4) },
  ];
  const last = migration('Failed', { status: { phaseTransitionTimestamps } });
  const migrationState = {
    migrationUid: UID,
    failed: true,
    sourceNode: 'node-a',
    targetNode: 'node-b',
    failureReason: 'no room',
  };
  expect(summarize({ last, gone: false, vmi: running([], { migrationState }) }, at(9))).toMatchObject({
    outcome: 'failed',
    ...{ source: 'node-a', target: 'node-b', failure: { type: 'Unknown', message: 'no room' } },
    phases: [{ phase: 'Pending', tookMs: 4000 }, { phase: 'Failed' }],
  });
});

test("the VMI's migrationState of another migration says nothing of this one", () => {
  const vmi = running([], { migrationState: { migrationUid: 'other', completed: true, targetNode: 'node-c' } });
  expect(summarize({ last: migration('Running'), gone: true, vmi }, at(9))).toMatchObject({ outcome: 'unknown' });
});

const failure = (type: 'Cancelled' | 'MigrationFailed') => ({ type, message: 'x' });
const aborted = (abort: 'succeeded' | 'failed') =>
  told(report('Failed', { abort, failure: failure('MigrationFailed') }));
const stateOf = (more: object) => running([], { migrationState: { migrationUid: UID, ...more } });

test.each<[string, Partial<Ended>, string]>([
  ['runs', {}, 'running'],
  ['is gone without a word', { gone: true }, 'unknown'],
  ['is gone, workflow succeeded', { gone: true, told: told(report('Succeeded')) }, 'succeeded'],
  ['is gone, VMI says completed', { gone: true, vmi: stateOf({ completed: true }) }, 'succeeded'],
  ['is gone, VMI says failed', { gone: true, vmi: stateOf({ failed: true, completed: true }) }, 'cancelled'],
  ['is gone, VMI says aborted', { gone: true, vmi: stateOf({ failed: true, abortStatus: 'Succeeded' }) }, 'cancelled'],
  ['is gone, workflow aborted', { gone: true, told: aborted('succeeded') }, 'cancelled'],
  ['is gone, abort came too late', { gone: true, told: aborted('failed') }, 'failed'],
  ['failed', { last: migration('Failed') }, 'failed'],
  ['failed while deleted', { last: migration('Failed', { deleting: true }) }, 'cancelled'],
  [
    'failed of itself while deleted',
    {
      last: migration('Failed', { deleting: true }),
      told: told(report('Failed'), { failure: failure('MigrationFailed') }),
    },
    'failed',
  ],
  ['was cancelled by its entity', { told: told(report('Failed'), { failure: failure('Cancelled') }) }, 'cancelled'],
])('a migration that %s: %o is %s', (_, ended, expected) => {
  expect(outcome(ended)).toBe(expected);
});

test('a failed migration is told with its reason, where the guest runs, and what to do', () => {
  const ended = { last: migration('Failed'), gone: false };
  const peer = { type: 'PeerUnreachable' as const, message: 'node-b does not answer.' };
  const word = told(report('Failed', { failure: peer }));
  const summary = summarize({ ...ended, told: word, vmi: running() }, at(9));
  expect(sentence(summary, NAME)).toMatch(
    /^migration prod\/kubevirt-migrate-vm-abc of web failed: PeerUnreachable: node-b does not answer\. The guest runs on node-a\. What to do: see that both/,
  );
});

test('of a guest that was lost it is not said that it runs', () => {
  const ended = { last: migration('Failed'), gone: false, vmi: running([], { phase: 'Failed' }) };
  expect(sentence(summarize(ended, at(9)), NAME)).not.toContain('The guest runs');
});

test('one that is not over when nobody waits any longer says how to end it', () => {
  const summary = summarize({ last: migration('Running'), gone: false }, at(9));
  expect(sentence(summary, NAME, 60)).toMatch(/not over after 60 s; it goes on.*virtflow cancel web -n prod/);
});

test('of one that succeeded there is nothing more to say', () => {
  expect(sentence(summarize({ last: migration('Succeeded'), gone: false }, at(9)), NAME)).toBeUndefined();
});

test('of a cancelled one it is said once, with who cancelled it and where the guest runs', () => {
  const message = 'cancelled: its VirtualMachineInstanceMigration was deleted. The guest runs on where it was.';
  const word = told(report('Failed', { failure: { type: 'Cancelled', message } }));
  const summary = summarize({ last: migration('Failed'), gone: true, told: word, vmi: running() }, at(9));
  expect(sentence(summary, NAME)).toBe(
    'migration prod/kubevirt-migrate-vm-abc of web was cancelled: its VirtualMachineInstanceMigration was deleted. The guest runs on node-a.',
  );
});
