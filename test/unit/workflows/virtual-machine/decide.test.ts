import { describe, expect, test } from '@jest/globals';
import type { VirtualMachineFacts } from '../../../../api/contract/facts.ts';
import { crashLoopDelayMs } from '../../../../workflows/virtual-machine/crash-loop.ts';
import { reportOf } from '../../../../workflows/virtual-machine/report.ts';
import type { VirtualMachineEvent } from '../../../../workflows/virtual-machine/state.ts';
import { isOver, pendingRequests } from '../../../../workflows/virtual-machine/state.ts';
import { after, instance, observed, read, told, types } from './facts.ts';

const instances = {
  none: undefined,
  starting: instance('i1', { phase: 'Scheduling' }),
  running: instance('i1'),
  deleting: instance('i1', { deleting: true }),
  Succeeded: instance('i1', { phase: 'Succeeded' }),
  Failed: instance('i1', { phase: 'Failed', ran: true }),
};
const requests: Record<string, VirtualMachineFacts['stateChangeRequests']> = {
  none: [],
  Start: [{ action: 'Start' }],
  Stop: [{ action: 'Stop', uid: 'i1' }],
  'Stop of another': [{ action: 'Stop', uid: 'i0' }],
  'Stop, Start': [{ action: 'Stop', uid: 'i1' }, { action: 'Start' }],
};

test('the world is looked at before anything else', () => {
  expect(types(after(observed()).commands)).toEqual(['adopt']);
  expect(after(observed(), observed({ runStrategy: 'Halted' })).commands).toEqual([]);
});

describe('strategy, instance and request', () => {
  test.each<[string, keyof typeof instances, string, string[], number]>([
    ['Always', 'none', 'none', ['create'], 0],
    ['Always', 'starting', 'none', [], 0],
    ['Always', 'running', 'none', [], 0],
    ['Always', 'deleting', 'none', [], 0],
    ['Always', 'Succeeded', 'none', ['delete'], 0],
    ['Always', 'Failed', 'none', ['delete'], 0],
    ['Always', 'running', 'Stop', ['delete'], 0],
    ['Always', 'deleting', 'Stop', [], 0],
    ['Always', 'none', 'Stop', ['create'], 1],
    ['Always', 'running', 'Stop of another', [], 1],
    ['Always', 'running', 'Stop, Start', ['delete'], 0],
    ['Always', 'none', 'Stop, Start', ['create'], 1],
    ['Always', 'running', 'Start', [], 1],
    ['Always', 'none', 'Start', ['create'], 0],
    ['Halted', 'none', 'none', [], 0],
    ['Halted', 'running', 'none', ['delete'], 0],
    ['Halted', 'Succeeded', 'none', ['delete'], 0],
    ['Halted', 'none', 'Start', [], 1],
    ['Halted', 'none', 'Stop', [], 1],
    ['Manual', 'none', 'none', [], 0],
    ['Manual', 'running', 'none', [], 0],
    ['Manual', 'running', 'Stop', ['delete'], 0],
    ['Manual', 'none', 'Start', [], 1],
  ])('%s, VMI %s, request %s: %j, %d settled', (runStrategy, vmi, request, then, settled) => {
    const seen = observed({ runStrategy, stateChangeRequests: requests[request] ?? [] });
    const { state, commands } = after(seen, read(instances[vmi]));
    expect(types(commands)).toEqual(then);
    expect(state.settled.length).toBe(settled);
  });
});

describe('a restart', () => {
  const restart = observed({ stateChangeRequests: requests['Stop, Start'] ?? [] });
  const gone = told(instance('i1', { deleting: true, gone: true }));
  const events: VirtualMachineEvent[] = [
    ...[observed(), read(instances.running), restart, { type: 'deleted', instance: instances.deleting } as const],
    ...[gone, { type: 'created', instance: instance('i2', { phase: '' }) } as const],
  ];
  test('deletes, waits until the instance is gone, creates, and settles both requests', () => {
    const commands = events.map((_, index) => types(after(...events.slice(0, index + 1)).commands).join());
    expect(commands).toEqual(['adopt', '', 'delete', '', 'create', '']);
    expect(pendingRequests(after(...events).state)).toEqual([]);
  });
  test('never has the intent to stop', () => {
    const intents = events.map((_, index) => reportOf(after(...events.slice(0, index + 1)).state).intent);
    expect(intents).toEqual(['run', 'run', 'restart', 'restart', 'run', 'run']);
  });
  test('requests that the list no longer shows are forgotten, later ones are not', () => {
    const later = observed({ stateChangeRequests: [{ action: 'Stop', uid: 'i2' }] });
    expect(types(after(...events, later).commands)).toEqual(['delete']);
    expect(after(...events, observed()).state.settled).toEqual([]);
  });
  test('a Stop that asks for a grace period hands it on', () => {
    const stop = observed({ stateChangeRequests: [{ action: 'Stop', uid: 'i1', data: { gracePeriodSeconds: '0' } }] });
    expect(after(observed(), read(instances.running), stop).commands).toMatchObject([
      { type: 'delete', gracePeriodSeconds: 0 },
    ]);
  });
});

describe('crash loop', () => {
  test.each([
    [1, 10],
    [2, 40],
    [3, 90],
    [5, 250],
    [6, 300],
    [50, 300],
  ])('after %d failures in a row the next start waits %d s', (failures, seconds) => {
    expect(crashLoopDelayMs(failures)).toBe(seconds * 1000);
  });
  const neverRan = instance('i1', { phase: 'Failed', deleting: false });
  const gone = told(instance('i1', { phase: 'Failed', deleting: true, gone: true }));
  const failed: VirtualMachineEvent[] = [
    observed(),
    read(neverRan),
    { type: 'deleted', instance: { ...neverRan, deleting: true } },
    gone,
  ];
  test('an instance that never ran is counted once, and its successor waits', () => {
    const { state, commands } = after(...failed);
    expect(commands).toEqual([]);
    expect(state).toMatchObject({ startFailures: { count: 1, lastUid: 'i1' }, wakeAt: '2026-01-01T00:00:10.000Z' });
  });
  test('whoever asks for a start does not wait', () => {
    expect(types(after(...failed, observed({ stateChangeRequests: [{ action: 'Start' }] })).commands)).toEqual([
      'create',
    ]);
  });
  test('an instance that runs clears the count', () => {
    const { state } = after(...failed, told(instance('i2')));
    expect(state.startFailures).toBeUndefined();
  });
  test('an instance that ran and then failed is no start failure', () => {
    expect(after(observed(), read(instances.Failed)).state.startFailures).toBeUndefined();
  });
});

describe('deletion', () => {
  const deleting = observed({ deleting: true });
  test('deletes the instance, waits for its end, and releases the VM', () => {
    const events: VirtualMachineEvent[] = [
      observed(),
      read(instances.running),
      deleting,
      { type: 'deleted', instance: instances.deleting },
    ];
    expect(types(after(...events.slice(0, 3)).commands)).toEqual(['delete']);
    expect(after(...events).commands).toEqual([]);
    const end = after(...events, told(instance('i1', { deleting: true, gone: true })));
    expect(types(end.commands)).toEqual(['release']);
    expect(isOver(decideReleased(events))).toBe(true);
  });
  const decideReleased = (events: VirtualMachineEvent[]) =>
    after(...events, told(instance('i1', { deleting: true, gone: true })), { type: 'released' }).state;
  test('a VM without an instance is released at once', () => {
    expect(types(after(deleting, read()).commands)).toEqual(['release']);
  });
  test('a VM that was removed by force ends its entity', () => {
    expect(isOver(after(observed(), read(instances.running), observed({ deleting: true, gone: true })).state)).toBe(
      true,
    );
  });
});

describe('refusals', () => {
  const refused = (retryable: boolean): VirtualMachineEvent => ({
    ...{ type: 'refused', command: 'create', failure: { type: 'Forbidden', message: 'no' }, retryable },
  });
  test('for good: told, and tried again only when the VM or what it depends on changes', () => {
    const events = [observed(), read(), refused(false)];
    expect(reportOf(after(...events).state).conditions).toMatchObject([
      { type: 'Failure', reason: 'FailedCreate', message: 'no' },
    ]);
    expect(after(...events, observed()).commands).toEqual([]);
    expect(types(after(...events, observed({ generation: 2 })).commands)).toEqual(['create']);
    expect(types(after(...events, { type: 'dependencyChanged' }).commands)).toEqual(['create']);
  });
  test('for now: tried again after a back-off', () => {
    expect(after(observed(), read(), refused(true)).state.wakeAt).toBe('2026-01-01T00:00:01.000Z');
  });
  test('of a look at the world: looked again after a back-off, not at once', () => {
    const { state, commands } = after(observed(), {
      ...(refused(false) as object),
      command: 'adopt',
    } as VirtualMachineEvent);
    expect(commands).toEqual([]);
    expect(state.wakeAt).toBe('2026-01-01T00:00:01.000Z');
  });
});

describe('news that cross', () => {
  test('an answer to a creation does not bring back what is already gone', () => {
    const gone = told(instance('i1', { gone: true }));
    const { state } = after(observed(), read(), gone, { type: 'created', instance: instances.starting });
    expect(state.instance).toBeUndefined();
  });
  test('an instance of a stranger is not ours', () => {
    const foreign = told(instance('i9', { owner: { name: 'vm-a', uid: 'other' } }));
    expect(after(observed({ runStrategy: 'Halted' }), read(), foreign).commands).toEqual([]);
  });
  test('another instance of ours than the known one makes it look again', () => {
    expect(types(after(observed(), read(instances.running), told(instance('i2'))).commands)).toEqual(['adopt']);
  });
});
