import { describe, expect, test } from '@jest/globals';
import type { VirtualMachineFacts } from '../../../../api/contract/facts.ts';
import { crashLoopDelayMs, shareOf } from '../../../../workflows/shared/crash-loop.ts';
import { decide } from '../../../../workflows/virtual-machine/decide.ts';
import { reportOf } from '../../../../workflows/virtual-machine/report.ts';
import type { VirtualMachineEvent } from '../../../../workflows/virtual-machine/state.ts';
import { isOver, pendingRequests } from '../../../../workflows/virtual-machine/state.ts';
import { after, at, instance, machine, observed, read, told, types } from './facts.ts';

const instances = {
  none: undefined,
  starting: instance('i1', { phase: 'Scheduling' }),
  running: instance('i1'),
  deleting: instance('i1', { deleting: true }),
  Succeeded: instance('i1', { phase: 'Succeeded' }),
  Failed: instance('i1', { phase: 'Failed', ran: true }),
  'Failed, deleting': instance('i1', { phase: 'Failed', ran: true, deleting: true }),
};
const requests: Record<string, VirtualMachineFacts['stateChangeRequests']> = {
  none: [],
  Start: [{ action: 'Start' }],
  Stop: [{ action: 'Stop', uid: 'i1' }],
  'Stop of another': [{ action: 'Stop', uid: 'i0' }],
  'Stop of nobody': [{ action: 'Stop' }],
  Dance: [{ action: 'Dance' }],
  'Stop, Start': [{ action: 'Stop', uid: 'i1' }, { action: 'Start' }],
  'Start, Stop': [{ action: 'Start' }, { action: 'Stop', uid: 'i1' }],
};

test('a VM that is to start needs no look before, any other is looked at first', () => {
  expect(types(after(observed()).commands)).toEqual(['create']);
  for (const runStrategy of ['RerunOnFailure', 'Once'])
    expect(types(after(observed({ runStrategy })).commands)).toEqual(['create']);
  const looked: Partial<VirtualMachineFacts>[] = [
    { runStrategy: 'Halted' },
    { runStrategy: 'Manual' },
    { runStrategy: 'RerunOnFailure', ranUnder: 'RerunOnFailure' },
    { stateChangeRequests: [{ action: 'Stop', uid: 'i1' }, { action: 'Start' }] },
    { deleting: true },
    { invalid: 'spec.template.spec is missing.' },
    { dataVolumes: 'now' },
    { startFailure: { count: 1, uid: 'i0', retryAt: '2026-01-01T00:00:09Z' } },
  ];
  for (const change of looked) expect(types(after(observed(change)).commands)).toEqual(['adopt']);
});

describe('strategy, instance and request', () => {
  test.each<[string, keyof typeof instances, string, string[], string[]]>([
    ['Always', 'none', 'none', ['create'], []],
    ['Always', 'starting', 'none', [], []],
    ['Always', 'running', 'none', [], []],
    ['Always', 'deleting', 'none', [], []],
    ['Always', 'Succeeded', 'none', ['delete'], []],
    ['Always', 'Failed', 'none', ['delete'], []],
    ['Always', 'running', 'Stop', ['delete'], []],
    ['Always', 'deleting', 'Stop', [], []],
    ['Always', 'none', 'Stop', ['create'], ['obsolete']],
    ['Always', 'running', 'Stop of another', [], ['obsolete']],
    ['Always', 'running', 'Stop of nobody', [], ['refused']],
    ['Always', 'running', 'Dance', [], ['refused']],
    ['Always', 'running', 'Stop, Start', ['delete'], []],
    ['Always', 'deleting', 'Stop, Start', [], []],
    ['Always', 'none', 'Stop, Start', ['create'], ['obsolete']],
    ['Always', 'running', 'Start', [], ['served']],
    ['Always', 'none', 'Start', ['create'], []],
    ['RerunOnFailure', 'none', 'none', ['create'], []],
    ['RerunOnFailure', 'starting', 'none', [], []],
    ['RerunOnFailure', 'running', 'none', [], []],
    ['RerunOnFailure', 'deleting', 'none', [], []],
    ['RerunOnFailure', 'Succeeded', 'none', ['delete'], []],
    ['RerunOnFailure', 'Failed', 'none', ['queueStart'], []],
    ['RerunOnFailure', 'Failed', 'Start', ['delete'], []],
    ['RerunOnFailure', 'Failed', 'Stop', ['delete'], []],
    ['RerunOnFailure', 'Failed, deleting', 'none', [], []],
    ['RerunOnFailure', 'Succeeded', 'Stop, Start', ['delete'], []],
    ['RerunOnFailure', 'running', 'Stop', ['delete'], []],
    ['RerunOnFailure', 'running', 'Start', [], ['served']],
    ['RerunOnFailure', 'none', 'Start', ['create'], []],
    ['Manual', 'none', 'none', [], []],
    ['Manual', 'running', 'none', [], []],
    ['Manual', 'Succeeded', 'none', [], []],
    ['Manual', 'Failed', 'none', [], []],
    ['Manual', 'running', 'Stop', ['delete'], []],
    ['Manual', 'Failed', 'Stop', ['delete'], []],
    ['Manual', 'none', 'Start', ['create'], []],
    ['Manual', 'deleting', 'Start', [], []],
    ['Manual', 'Succeeded', 'Start', ['delete'], []],
    ['Manual', 'running', 'Stop, Start', ['delete'], []],
    ['Manual', 'running', 'Start, Stop', ['delete'], ['served']],
    ['Halted', 'none', 'none', [], []],
    ['Halted', 'running', 'none', ['delete'], []],
    ['Halted', 'Succeeded', 'none', ['delete'], []],
    ['Halted', 'deleting', 'none', [], []],
    ['Halted', 'none', 'Start', ['switchOn'], []],
    ['Halted', 'deleting', 'Start', ['switchOn'], []],
    ['Halted', 'none', 'Stop', [], ['obsolete']],
    ['Once', 'none', 'none', ['create'], []],
    ['Once', 'running', 'none', [], []],
    ['Once', 'Succeeded', 'none', [], []],
    ['Once', 'Failed', 'none', [], []],
    ['Once', 'running', 'Stop', [], ['refused']],
    ['Once', 'Failed', 'Start', [], ['refused']],
    ['WaitAsReceiver', 'none', 'none', [], []],
    ['WaitAsReceiver', 'none', 'Start', [], ['refused']],
    ['WaitAsReceiver', 'running', 'Stop', ['delete'], []],
    ['Sometimes', 'none', 'none', [], []],
  ])('%s, VMI %s, request %s: %j, settled %j', (runStrategy, vmi, request, then, settled) => {
    const seen = observed({ runStrategy, stateChangeRequests: requests[request] ?? [] });
    const { state, commands } = after(seen, read(instances[vmi]));
    expect(types(commands)).toEqual(then);
    expect(state.settled.map(({ outcome }) => outcome)).toEqual(settled);
  });

  test('RerunOnFailure: stopped it stays stopped; it starts when it is chosen', () => {
    const chosen = { runStrategy: 'RerunOnFailure' };
    const stopped = [observed({ ...chosen, ranUnder: 'RerunOnFailure' }), read()];
    expect(after(...stopped).commands).toEqual([]);
    const halted = observed({ runStrategy: 'Halted', generation: 2 });
    expect(types(after(...stopped, halted, observed({ ...chosen, generation: 3 })).commands)).toEqual(['create']);
    expect(types(after(observed({ ...chosen, ranUnder: 'Always' }), read()).commands)).toEqual(['create']);
  });

  test('a VM that needs a person to recover it starts nothing, and says so to who asks', () => {
    expect(after(observed({ manualRecovery: true }), read()).commands).toEqual([]);
    const asked = observed({ runStrategy: 'Manual', manualRecovery: true, stateChangeRequests: [{ action: 'Start' }] });
    expect(after(asked, read()).state.outcomes).toMatchObject([{ outcome: 'refused' }]);
  });
});

describe('halted and asked to start', () => {
  const asked = observed({
    runStrategy: 'Halted',
    stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
  });
  const switched = (): VirtualMachineEvent => ({
    type: 'changed',
    facts: machine({ generation: 2, stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }] }),
  });
  test('it becomes Always, and its instance starts paused', () => {
    expect(types(after(asked, read()).commands)).toEqual(['switchOn']);
    expect(after(asked, read(), switched()).commands).toEqual([{ type: 'create', paused: true }]);
  });
  test('the request is served by the instance that comes', () => {
    const { state } = after(asked, read(), switched(), { type: 'created', instance: instances.starting });
    expect(state.outcomes).toMatchObject([{ action: 'Start', outcome: 'served' }]);
  });
  test('whoever halts it later has the last word', () => {
    const restart = observed({ stateChangeRequests: requests['Stop, Start'] ?? [] });
    const halted = observed({
      runStrategy: 'Halted',
      generation: 2,
      stateChangeRequests: requests['Stop, Start'] ?? [],
    });
    const { state } = after(observed(), read(instances.running), restart, halted);
    expect(state.outcomes).toMatchObject([{ outcome: 'obsolete' }, { outcome: 'obsolete' }]);
    expect(reportOf(state).then).toBe('stop');
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
    expect(commands).toEqual(['create', '', 'delete', '', 'create', '']);
    expect(pendingRequests(after(...events).state)).toEqual([]);
  });
  test('is always followed by a run', () => {
    for (const [index] of events.entries())
      expect(reportOf(after(...events.slice(0, index + 1)).state).then).toBe('run');
  });
  test('says what became of both requests', () => {
    expect(after(...events).state.outcomes).toMatchObject([
      { id: 1, action: 'Stop', uid: 'i1', outcome: 'served' },
      { id: 2, action: 'Start', outcome: 'served' },
    ]);
  });
  test('requests that the list no longer shows are forgotten, later ones are not', () => {
    const later = observed({ stateChangeRequests: [{ action: 'Stop', uid: 'i2' }] });
    expect(types(after(...events, later).commands)).toEqual(['delete']);
    expect(after(...events, observed()).state.settled).toEqual([]);
  });
  test('a request like one that is settled is another one once that is off the list', () => {
    const facts = (resourceVersion: string, ...list: { action: string }[]) =>
      machine({ runStrategy: 'Manual', resourceVersion, stateChangeRequests: list });
    const before: VirtualMachineEvent[] = [
      { type: 'virtualMachineObserved', facts: facts('5', { action: 'Start' }) },
      read(instances.running),
    ];
    const again: VirtualMachineEvent = { type: 'virtualMachineObserved', facts: facts('9', { action: 'Start' }) };
    const published: VirtualMachineEvent = { type: 'published', facts: facts('7'), settled: 1 };
    for (const order of [
      [published, again],
      [again, published],
    ]) {
      const events = [...before, ...order, { type: 'timerFired' } as const];
      expect(after(...events).state.outcomes).toHaveLength(2);
    }
    const stale: VirtualMachineEvent = { type: 'virtualMachineObserved', facts: facts('6', { action: 'Start' }) };
    expect(after(...before, published, stale).state.outcomes).toHaveLength(1);
  });
  test('a Stop of an instance that is being stopped can only make it end sooner', () => {
    const stop = (gracePeriodSeconds: string) => ({ action: 'Stop', uid: 'i1', data: { gracePeriodSeconds } });
    const list = (...stateChangeRequests: VirtualMachineFacts['stateChangeRequests']) =>
      observed({ runStrategy: 'Manual', stateChangeRequests });
    const stopping = [list({ action: 'Stop', uid: 'i1' }), read(instances.deleting)];
    expect(after(...stopping).commands).toEqual([]);
    expect(after(...stopping, list({ action: 'Stop', uid: 'i1' }, stop('60'))).commands).toEqual([]);
    expect(after(...stopping, list({ action: 'Stop', uid: 'i1' }, stop('0'))).commands).toMatchObject([
      { type: 'delete', gracePeriodSeconds: 0 },
    ]);
  });
  test('a Stop that asks for a grace period hands it on', () => {
    const stop = observed({ stateChangeRequests: [{ action: 'Stop', uid: 'i1', data: { gracePeriodSeconds: '0' } }] });
    expect(after(observed(), read(instances.running), stop).commands).toMatchObject([
      { type: 'delete', gracePeriodSeconds: 0 },
    ]);
  });
});

test('a request that another one has replaced has its outcome too', () => {
  const list = (stateChangeRequests: VirtualMachineFacts['stateChangeRequests']) =>
    observed({ runStrategy: 'Manual', stateChangeRequests });
  const restart = list(requests['Stop, Start'] ?? []);
  const events = [list([]), read(instances.running), restart, list(requests['Stop'] ?? [])];
  const { state } = after(...events);
  expect(state.outcomes).toMatchObject([{ action: 'Start', outcome: 'obsolete' }]);
  expect(reportOf(state)).toMatchObject({ ends: true, then: 'stop' });
});

describe('crash loop', () => {
  test.each([
    [1, 10, 15],
    [2, 40, 60],
    [3, 90, 135],
    [4, 160, 240],
    [5, 250, 300],
    [6, 300, 300],
    [50, 300, 300],
  ])('after %d failures in a row the next start waits %d to %d s', (failures, least, most) => {
    expect([crashLoopDelayMs(failures, 0), crashLoopDelayMs(failures, 1)]).toEqual([least * 1000, most * 1000]);
  });
  test('the share on top is spread over all of it', () => {
    const shares = Array.from({ length: 100 }, (_, n) => shareOf(`vmi-${n}`));
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    expect(new Set(shares.map((share) => Math.floor(share * 4))).size).toBe(4);
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
    expect(state).toMatchObject({ startFailures: { count: 1, lastUid: 'i1' }, wakeAt: state.startFailures?.retryAt });
    const waits = (Date.parse(state.wakeAt ?? '') - Date.parse(at)) / 1000;
    expect(waits).toBeGreaterThanOrEqual(10);
    expect(waits).toBeLessThanOrEqual(15);
  });
  test('whoever asks for a start does not wait, and what failed before does not count any more', () => {
    const { state, commands } = after(...failed, observed({ stateChangeRequests: [{ action: 'Start' }] }));
    expect(types(commands)).toEqual(['create']);
    expect(state.startFailures).toBeUndefined();
  });
  test('under RerunOnFailure the request is the entity’s own: it waits as well', () => {
    const list = { runStrategy: 'RerunOnFailure', stateChangeRequests: [{ action: 'Start' }] };
    const events: VirtualMachineEvent[] = [
      observed({ runStrategy: 'RerunOnFailure' }),
      read(neverRan),
      { type: 'changed', facts: machine(list) },
      { type: 'deleted', instance: { ...neverRan, deleting: true } },
      gone,
    ];
    const commands = events.map((_, index) => types(after(...events.slice(0, index + 1)).commands).join());
    expect(commands).toEqual(['create', 'queueStart', 'delete', '', '']);
    const { state } = after(...events);
    expect(state.wakeAt).toBe(state.startFailures?.retryAt);
    expect(reportOf(state)).toMatchObject({ then: 'run', startFailure: { consecutiveFailCount: 1 } });
  });
  test('an entity without history takes the count from the VM’s status and waits on', () => {
    const startFailure = { count: 3, uid: 'i0', retryAt: '2026-01-01T00:02:00Z' };
    const { state, commands } = after(observed({ startFailure, ranUnder: 'Always' }), read());
    expect(commands).toEqual([]);
    expect(state.wakeAt).toBe(startFailure.retryAt);
    expect(types(decide(state, { type: 'timerFired' }, startFailure.retryAt).commands)).toEqual(['create']);
  });
  test.each(['Manual', 'Halted'])('%s forgets the count', (runStrategy) => {
    expect(after(...failed, observed({ runStrategy })).state.startFailures).toBeUndefined();
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
  test('one that goes with its finalizer is over when it is gone, one that somebody else keeps at once', () => {
    const ours = ['kubevirt.io/virtualMachineControllerFinalize'];
    const released = (finalizers: string[]): VirtualMachineEvent[] => [
      ...[observed({ deleting: true, finalizers }), read()],
      { type: 'released' },
    ];
    expect(isOver(after(...released(ours)).state)).toBe(false);
    expect(isOver(after(...released(ours), observed({ deleting: true, gone: true })).state)).toBe(true);
    expect(isOver(after(...released([...ours, 'example.com/kept'])).state)).toBe(true);
  });
  const decideReleased = (events: VirtualMachineEvent[]) =>
    after(...events, told(instance('i1', { deleting: true, gone: true })), { type: 'released' }).state;
  test('a VM without an instance is released at once', () => {
    expect(types(after(deleting, read()).commands)).toEqual(['release']);
  });
  test('one that is deleted without its instance is released at once, and the instance stays', () => {
    const orphaning = observed({ deleting: true, orphans: true });
    expect(types(after(observed(), read(instances.running), orphaning).commands)).toEqual(['release']);
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
    const { state, commands } = after(observed({ runStrategy: 'Halted' }), {
      ...(refused(false) as object),
      command: 'adopt',
    } as VirtualMachineEvent);
    expect(commands).toEqual([]);
    expect(state.wakeAt).toBe('2026-01-01T00:00:01.000Z');
  });
  test('of the first creation, by the API server: it was asked for the instance before', () => {
    const { state } = after(observed(), refused(false));
    expect(state).toMatchObject({ adoption: 'done', refused: { command: 'create' } });
    expect(reportOf(state)).toMatchObject({ then: 'stop', conditions: [{ reason: 'FailedCreate' }] });
  });
  test('for good: a start that was asked for is over with that answer', () => {
    const asked = observed({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
    expect(after(asked, read(), refused(false)).state.outcomes).toMatchObject([{ outcome: 'refused', message: 'no' }]);
  });
  test('of one command do not hold up another', () => {
    const events = [observed(), read(), refused(true), observed({ deleting: true })];
    expect(types(after(...events).commands)).toEqual(['release']);
  });
});

describe('DataVolumes of templates', () => {
  const found = (state: 'ready' | 'provisioning' | 'failed'): VirtualMachineEvent => ({ type: 'provisioned', state });
  test('are created before the instance, which waits until they are filled', () => {
    const events = [observed({ dataVolumes: 'now' }), read()];
    expect(types(after(...events).commands)).toEqual(['provision']);
    const waiting = after(...events, found('provisioning'));
    expect(waiting.commands).toEqual([]);
    expect(waiting.state.wakeAt).toBe('2026-01-01T00:00:01.000Z');
    expect(reportOf(waiting.state).dataVolumes).toBe('provisioning');
    expect(types(after(...events, found('ready')).commands)).toEqual(['create']);
  });
  test('of a VM that does not run: created at once, or left to the start', () => {
    const halted = { runStrategy: 'Halted' };
    expect(types(after(observed({ ...halted, dataVolumes: 'now' }), read()).commands)).toEqual(['provision']);
    expect(after(observed({ ...halted, dataVolumes: 'atStart' }), read()).commands).toEqual([]);
  });
  test('are looked at again before the next instance', () => {
    const gone = told(instance('i1', { deleting: true, gone: true }));
    const events = [observed({ dataVolumes: 'now' }), read(), found('ready')];
    const created: VirtualMachineEvent = { type: 'created', instance: instances.running };
    expect(types(after(...events, created, gone).commands)).toEqual(['provision']);
  });
  test('that cannot be created do not hold up a deletion', () => {
    const no: VirtualMachineEvent = {
      ...{ type: 'refused', command: 'provision', failure: { type: 'VolumeNotFound', message: 'no CDI' } },
      retryable: true,
    };
    const events = [observed({ dataVolumes: 'now' }), read(), no];
    expect(reportOf(after(...events).state).conditions).toMatchObject([{ reason: 'FailedCreate', message: 'no CDI' }]);
    expect(types(after(...events, observed({ dataVolumes: 'now', deleting: true })).commands)).toEqual(['release']);
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
