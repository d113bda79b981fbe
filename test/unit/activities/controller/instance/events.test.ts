import { expect, test } from '@jest/globals';
import { eventsOf } from '../../../../../activities/controller/instance/events.ts';
import type { ConditionReport, InstanceReport } from '../../../../../api/contract/activities.ts';
import type { MigrationReport } from '../../../../../api/contract/migrations.ts';
import type { VirtualMachineInstanceStatus } from '../../../../../api/kubevirt/types.ts';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import { instance } from '../../../../support/instances.ts';

const at = '2026-01-01T00:00:00Z';
const domain = (change: Partial<DomainReport> = {}): DomainReport => ({
  ...{ vmi: { namespace: 'n', name: 'v', uid: 'u' }, podUid: 'p', node: 'a', sequence: { epoch: 1, n: 3 }, at },
  ...{ state: 'running', agent: { connected: false }, ...change },
});
const report = (phase: string, more: Partial<InstanceReport> = {}): InstanceReport => ({
  ...{ phase, phaseTimes: [], activePods: {}, conditions: [], ...more },
});
const told = (status: VirtualMachineInstanceStatus, now: InstanceReport): string[] =>
  eventsOf({ ...instance({}), status }, now).map(
    ({ reason, isWarning }) => `${reason}${isWarning === true ? '!' : ''}`,
  );

const ran = { phaseTransitionTimestamps: [{ phase: 'Running', phaseTransitionTimestamp: at }] };
const running = { phase: 'Running', ...ran };
const condition = (type: string, status: 'True' | 'False', reason: string, message = 'why'): ConditionReport => ({
  ...{ type, status, reason, message },
});
const pausedBy = (reason: string) => condition('Paused', 'True', reason);
const failing = (reason: string, message?: string) => condition('Synchronized', 'False', reason, message);
const migration = (phase: MigrationReport['phase'], more: Partial<MigrationReport> = {}): MigrationReport => ({
  ...{ migration: { namespace: 'n', name: 'm', uid: 'mu' }, phase, phaseTimes: [], ...more },
});

test.each<[string, VirtualMachineInstanceStatus, InstanceReport, string[]]>([
  ['it is scheduled', { phase: 'Scheduling' }, report('Scheduled'), []],
  ['its guest runs', { phase: 'Scheduled' }, report('Running'), ['Created', 'Started']],
  ['its guest goes on running', running, report('Running', { domain: domain() }), []],
  ['its guest has ended well', running, report('Succeeded'), ['Stopped']],
  ['its guest has crashed', running, report('Failed'), ['Stopped!']],
  ['it never ran', { phase: 'Scheduling' }, report('Failed'), []],
  ['that is said already', { phase: 'Succeeded', ...ran }, report('Succeeded'), []],
  [
    'its guest is told to end',
    running,
    report('Running', { domain: domain({ state: 'shuttingDown', deadline: at }) }),
    ['ShuttingDown'],
  ],
  [
    'its guest has ended as soon as it was told to',
    running,
    report('Succeeded', { domain: domain(), end: 'agentShutdown' }),
    ['ShuttingDown', 'Stopped'],
  ],
  [
    'its guest has ended by itself',
    running,
    report('Succeeded', { domain: domain({ state: 'shutoff' }), end: 'guestShutdown' }),
    ['Stopped'],
  ],
  ['its guest ends by itself', running, report('Running', { domain: domain({ state: 'shuttingDown' }) }), []],
  [
    'a user pauses it',
    running,
    report('Running', { domain: domain(), conditions: [pausedBy('PausedByUser')] }),
    ['Paused'],
  ],
  [
    'it goes on',
    { ...running, conditions: [pausedBy('PausedByUser')] },
    report('Running', { domain: domain() }),
    ['Unpaused'],
  ],
  [
    'its storage fails',
    running,
    report('Running', { domain: domain(), conditions: [pausedBy('PausedIOError')] }),
    ['IOerror!'],
  ],
  [
    'a migration stops it to switch over',
    running,
    report('Running', { domain: domain(), conditions: [pausedBy('PausedByMigrationMonitor')] }),
    [],
  ],
  [
    'its claim is missing',
    {},
    report('Pending', { conditions: [failing('FailedPvcNotFound')] }),
    ['FailedPvcNotFound!'],
  ],
  ['no Pod can be made', {}, report('Pending', { conditions: [failing('FailedCreate')] }), ['FailedCreate!']],
  ['anything else fails', {}, report('Pending', { conditions: [failing('TokenHeld')] }), ['SyncFailed!']],
  [
    'that is said already',
    { conditions: [failing('TokenHeld')] },
    report('Pending', { conditions: [failing('TokenHeld')] }),
    [],
  ],
  [
    'it fails otherwise now',
    { conditions: [failing('TokenHeld')] },
    report('Pending', { conditions: [failing('TokenHeld', 'other')] }),
    ['SyncFailed!'],
  ],
  ['a migration waits', running, report('Running', { migration: migration('Scheduling') }), []],
  [
    'a migration begins',
    running,
    report('Running', { migration: migration('Running', { startedAt: at }) }),
    ['PreparingTarget', 'Migrating'],
  ],
  [
    'that is said already',
    { ...running, migrationState: { migrationUid: 'mu', startTimestamp: at } },
    report('Running', { migration: migration('Running', { startedAt: at }) }),
    [],
  ],
])('%s', (_, status, now, expected) => {
  expect(told(status, now)).toEqual(expected);
});

test('each pause has an Event of its own, however often one is told', () => {
  const paused = (n: number) =>
    eventsOf(
      { ...instance({}), status: running },
      report('Running', { domain: domain({ sequence: { epoch: 1, n } }), conditions: [pausedBy('PausedByUser')] }),
    )[0]?.once;
  expect(paused(3)).toBe(paused(3));
  expect(paused(3)).not.toBe(paused(4));
});
