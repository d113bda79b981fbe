import { describe, expect, test } from '@jest/globals';
import { alreadyMade } from '../../../../../../activities/controller/virtual-machine/triggers/already-made.ts';
import type { Change } from '../../../../../../activities/controller/virtual-machine/triggers/already-made.ts';
import type { Seen } from '../../../../../../activities/controller/virtual-machine/triggers/progress.ts';
import { progressOf } from '../../../../../../activities/controller/virtual-machine/triggers/progress.ts';
import type { TriggerAction, TriggerEffect } from '../../../../../../api/contract/triggers.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../../../../api/kubevirt/types.ts';

const AT = '2026-01-01T00:10:00Z';
const NO_SPEC = { domain: { devices: {} } };
const vm = (runStrategy: string, requests: string[] = [], more: object = {}): VirtualMachine => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: 'shop', name: 'web', uid: 'v1' } },
  spec: { runStrategy, template: { spec: NO_SPEC } },
  status: {
    stateChangeRequests: requests.map((one) => {
      const [action = '', uid] = one.split(' ');
      return { action, ...(uid === undefined ? {} : { uid }) };
    }),
    ...more,
  },
});
const vmi = (uid: string, phase: string, more: object = {}, deleting = false): VirtualMachineInstance => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', spec: NO_SPEC },
  metadata: { namespace: 'shop', name: 'web', uid, ...(deleting ? { deletionTimestamp: AT } : {}) },
  status: { phase, nodeName: 'node-a', ...more },
});
const ending = (uid: string) => vmi(uid, 'Running', {}, true);
const uncreatable = (since: string) => ({
  conditions: [{ type: 'Failure', status: 'True', reason: 'FailedCreate', message: 'no', lastTransitionTime: since }],
});
const failedStart = { id: 'vmi-start/i2/1', failure: { type: 'Forbidden' as const, message: 'not here' } };

type Case = [string, TriggerAction, Partial<Seen>, string, string];

/** Each was accepted while instance i1 was there. */
const progress = (action: TriggerAction, seen: Partial<Seen>, effect: Partial<TriggerEffect> = {}) =>
  progressOf(
    { operationId: 'o', action, options: {}, vm: { namespace: 'shop', name: 'web', uid: 'v1' }, instance: 'i1' },
    { message: '', ...effect },
    { vm: undefined, vmi: undefined, at: AT, ...seen },
  );
const expectProgress = (is: ReturnType<typeof progress>, state: string, says: string): void => {
  expect(is.state).toBe(state);
  expect(JSON.stringify(is)).toContain(says);
};

describe('a start or restart', () => {
  test.each<Case>([
    ['the next instance runs', 'restart', { vm: vm('Always'), vmi: vmi('i2', 'Running') }, 'succeeded', 'i2'],
    ['it runs', 'start', { vm: vm('Always'), vmi: vmi('i1', 'Running') }, 'succeeded', 'node-a'],
    ['the old one ends', 'restart', { vm: vm('Manual', ['Stop i1', 'Start']), vmi: ending('i1') }, 'underWay', ''],
    [
      'the old one has yet to end',
      'restart',
      { vm: vm('Always', ['Stop i1', 'Start']), vmi: vmi('i1', 'Running') },
      'underWay',
      '',
    ],
    ['the old one runs on', 'restart', { vm: vm('Always'), vmi: vmi('i1', 'Running') }, 'failed', 'Cancelled'],
    ['between two instances', 'restart', { vm: vm('Manual', ['Start']) }, 'underWay', ''],
    ['nobody asks any more', 'restart', { vm: vm('Manual') }, 'failed', 'off the list'],
    ['halted meanwhile', 'start', { vm: vm('Halted'), vmi: ending('i1') }, 'failed', 'halted later'],
    ['Halted and to start paused', 'start', { vm: vm('Halted', ['Start']) }, 'underWay', ''],
    ['deleted meanwhile', 'start', {}, 'failed', 'ObjectGone'],
    [
      'it waits',
      'start',
      {
        vm: vm('Always'),
        vmi: vmi('i2', 'Pending', {
          conditions: [{ type: 'Synchronized', status: 'False', reason: 'VolumeNotFound', message: 'no PVC' }],
        }),
      },
      'underWay',
      'VolumeNotFound',
    ],
    [
      'its start failed',
      'start',
      { vm: vm('Always'), vmi: vmi('i2', 'Scheduling'), failed: failedStart },
      'failed',
      'Forbidden',
    ],
    [
      'it ended without having run',
      'start',
      { vm: vm('Once'), vmi: vmi('i2', 'Failed', { reason: 'crashed' }) },
      'failed',
      'crashed',
    ],
    ['it ran and has ended', 'start', { vm: vm('Once'), vmi: vmi('i2', 'Succeeded') }, 'succeeded', 'ended again'],
    [
      'an instance failed and the next one waits',
      'start',
      {
        vm: vm('Always', [], {
          startFailure: { consecutiveFailCount: 1, lastFailedVMIUID: 'i2', retryAfterTimestamp: 'then' },
        }),
      },
      'failed',
      'without having run',
    ],
    [
      'an instance is just refused',
      'start',
      { vm: vm('Always', [], uncreatable('2026-01-01T00:09:30Z')) },
      'underWay',
      '"no"',
    ],
    [
      'an instance is refused for long',
      'start',
      { vm: vm('Always', [], uncreatable('2026-01-01T00:08:30Z')) },
      'failed',
      '"no"',
    ],
  ])('%s (%s): %#', (_, action, seen, state, says) => expectProgress(progress(action, seen), state, says));
});

describe('a stop', () => {
  test.each<Case>([
    ['it ends', 'stop', { vm: vm('Halted'), vmi: ending('i1') }, 'underWay', ''],
    ['it has yet to end', 'stop', { vm: vm('Manual', ['Stop i1']), vmi: vmi('i1', 'Running') }, 'underWay', ''],
    ['it is gone', 'stop', { vm: vm('Halted') }, 'succeeded', 'stopped'],
    ['the VM is gone', 'stop', {}, 'succeeded', 'gone'],
    ['another one came', 'stop', { vm: vm('Manual'), vmi: vmi('i2', 'Running') }, 'succeeded', 'i2 came after'],
    ['it runs on', 'stop', { vm: vm('Manual'), vmi: vmi('i1', 'Running') }, 'failed', 'Cancelled'],
    ['switched on meanwhile', 'stop', { vm: vm('Always'), vmi: ending('i1') }, 'failed', 'set to Always later'],
    [
      'its shutdown failed',
      'stop',
      { vm: vm('Halted'), vmi: ending('i1'), failed: { ...failedStart, id: 'vmi-shutdown/i1/1' } },
      'failed',
      'Forbidden',
    ],
    [
      'the start before it failed',
      'stop',
      { vm: vm('Halted'), vmi: ending('i1'), failed: failedStart },
      'underWay',
      '',
    ],
  ])('%s (%s): %#', (_, action, seen, state, says) => expectProgress(progress(action, seen), state, says));
});

describe('a migration or retry', () => {
  const vmim = { namespace: 'shop', name: 'm', uid: 'm1' };
  const migration = (phase: string, conditions: object[] = []) => ({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceMigration', metadata: vmim },
    ...{ spec: { vmiName: 'web' }, status: { phase, conditions: conditions as [] } },
  });
  const condition = (type: string) => ({ type, status: 'True', reason: 'PodNotReady', message: 'no room' });
  test.each<[string, Seen['migration'], string, string]>([
    ['not begun', migration(''), 'underWay', ''],
    ['waiting', migration('Scheduling', [condition('Waiting')]), 'underWay', 'no room'],
    ['done', migration('Succeeded'), 'succeeded', 'node-a'],
    ['failed', migration('Failed', [condition('Failure')]), 'failed', 'no room'],
    ['failed without a word', migration('Failed'), 'failed', 'MigrationFailed'],
    ['deleted', undefined, 'failed', 'Cancelled'],
  ])('%s: %#', (_, seen, state, says) => {
    const there = { vm: vm('Always'), vmi: vmi('i1', 'Running') };
    expectProgress(progress('migrate', { ...there, migration: seen }, { vmim }), state, says);
    expectProgress(progress('retry', { ...there, migration: seen }, { vmim }), state, says);
  });

  const operation = (phase: string, more: object = {}) => ({
    ...{ kind: 'start' as const, vmi: vmim, attempt: 2, phase, steps: [] },
    ...more,
  });
  test.each<[string, Seen['operation'], string, string]>([
    ['not to be seen yet', undefined, 'underWay', ''],
    ['under way', operation('Scheduling'), 'underWay', ''],
    ['done', operation('Done'), 'succeeded', 'vmi-start/i1/2'],
    ['failed', operation('Failed', { failure: { type: 'PodFailed', message: 'again' } }), 'failed', 'again'],
  ])('the operation that is retried is %s: %#', (_, seen, state, says) => {
    expectProgress(
      progress('retry', { vm: vm('Always'), operation: seen }, { retried: 'vmi-start/i1/2' }),
      state,
      says,
    );
  });
});

describe('what is left to change', () => {
  const made = (action: Change['action'], there: { vm: VirtualMachine; vmi?: VirtualMachineInstance }, options = {}) =>
    alreadyMade({ action, options, instance: 'i1' }, there);
  test.each<[string, boolean, Change['action'], VirtualMachine, VirtualMachineInstance | undefined, object?]>([
    ['a start of a halted VM', true, 'start', vm('Halted'), undefined],
    ['a start that was switched on', false, 'start', vm('Always'), undefined],
    ['a start that is queued', false, 'start', vm('Manual', ['Start']), undefined],
    ['a start of what runs', false, 'start', vm('Manual'), vmi('i2', 'Running')],
    ['a start of what ends', true, 'start', vm('Manual'), ending('i1')],
    ['a stop under Always', true, 'stop', vm('Always'), vmi('i1', 'Running')],
    ['a stop under Always of the next one', true, 'stop', vm('Always'), vmi('i2', 'Running')],
    ['a stop that was switched off', false, 'stop', vm('Halted'), vmi('i1', 'Running')],
    ['a stop that is queued', false, 'stop', vm('Manual', ['Stop i1']), vmi('i1', 'Running')],
    ['a shorter stop', true, 'stop', vm('Halted'), ending('i1'), { gracePeriod: 3 }],
    ['a longer stop', false, 'stop', vm('Halted'), ending('i1'), { gracePeriod: 60 }],
    ['a stop of what is gone', false, 'stop', vm('Manual'), undefined],
    ['a stop when the next one runs', false, 'stop', vm('Manual'), vmi('i2', 'Running')],
    ['a restart', true, 'restart', vm('Always'), vmi('i1', 'Running')],
    ['a restart that is queued', false, 'restart', vm('Always', ['Stop i1', 'Start']), vmi('i1', 'Running')],
    ['a restart when the next one runs', false, 'restart', vm('Always'), vmi('i2', 'Running')],
    ['a restart between two instances', false, 'restart', vm('Manual', ['Start']), undefined],
    ['a restart of what ended by itself', true, 'restart', vm('Manual'), undefined],
    ['a restart while only a stop is queued', true, 'restart', vm('Manual', ['Stop i1']), vmi('i1', 'Running')],
  ])('%s: %s', (_, isLeft, action, has, there, options = {}) => {
    expect(made(action, there === undefined ? { vm: has } : { vm: has, vmi: there }, options) === undefined).toBe(
      isLeft,
    );
  });
});
