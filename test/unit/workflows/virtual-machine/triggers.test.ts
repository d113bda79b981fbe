import { describe, expect, test } from '@jest/globals';
import type { VirtualMachineFacts } from '../../../../api/contract/facts.ts';
import type { TriggerAction } from '../../../../api/contract/triggers.ts';
import { triggerId } from '../../../../api/contract/triggers.ts';
import { decide } from '../../../../workflows/virtual-machine/decide.ts';
import type { VirtualMachineEvent, VirtualMachineState } from '../../../../workflows/virtual-machine/state.ts';
import { initialState } from '../../../../workflows/virtual-machine/state.ts';
import { REMEMBERED_TRIGGERS, refusalOf } from '../../../../workflows/virtual-machine/triggers.ts';
import { after, at, instance, observed, read, told, vm } from './facts.ts';

const instances = {
  none: undefined,
  starting: instance('i1', { phase: 'Scheduling' }),
  running: instance('i1'),
  stopping: instance('i1', { deleting: true }),
  Failed: instance('i1', { phase: 'Failed', ran: true }),
};
type There = keyof typeof instances;

const machineWith = (
  runStrategy: string,
  there: There,
  more: Partial<VirtualMachineFacts> = {},
): VirtualMachineState => ({
  ...after(observed({ runStrategy, ...more }), read(instances[there])).state,
});
const refusal = (state: VirtualMachineState, action: TriggerAction, options: object = {}): string =>
  refusalOf(state, action, { key: 'k', options })?.message ?? '';
const triggered = (key: string, action: TriggerAction = 'restart'): VirtualMachineEvent => ({
  type: 'triggered',
  trigger: { id: triggerId(vm, action, key), action, key, options: {}, instance: 'i1' },
});

const RESTART: VirtualMachineFacts['stateChangeRequests'] = [{ action: 'Stop', uid: 'i1' }, { action: 'Start' }];

describe('what a VM takes', () => {
  test.each<[TriggerAction, string, There, object, string]>([
    ['start', 'Halted', 'none', {}, ''],
    ['start', 'Halted', 'none', { paused: true }, ''],
    ['start', 'Manual', 'none', {}, ''],
    ['start', 'Manual', 'Failed', {}, ''],
    ['start', 'Manual', 'stopping', {}, ''],
    ['start', 'Manual', 'running', {}, 'VM is already running'],
    ['start', 'Always', 'running', {}, 'VM is already running'],
    ['start', 'Always', 'none', {}, 'Always does not support manual start requests'],
    ['start', 'RerunOnFailure', 'Failed', {}, 'does not support starting VM from failed state'],
    ['start', 'Once', 'none', {}, 'Once does not support manual start requests'],
    ['start', 'WaitAsReceiver', 'none', {}, 'is not carried out'],
    ['stop', 'Always', 'running', {}, ''],
    ['stop', 'Always', 'none', {}, ''],
    ['stop', 'Once', 'running', {}, ''],
    ['stop', 'Manual', 'running', { gracePeriod: 0 }, ''],
    ['stop', 'Manual', 'running', { gracePeriod: -1 }, 'gracePeriod has to be greater'],
    ['stop', 'Manual', 'none', {}, 'VM is not running'],
    ['stop', 'Halted', 'none', {}, 'VM is not running'],
    ['stop', 'Halted', 'stopping', {}, 'only supports manual stop requests with a shorter graceperiod'],
    ['stop', 'Halted', 'stopping', { gracePeriod: 1 }, ''],
    ['restart', 'Always', 'running', {}, ''],
    ['restart', 'Always', 'running', { gracePeriodSeconds: 0 }, ''],
    ['restart', 'Always', 'running', { gracePeriodSeconds: 5 }, 'only gracePeriod=0 is supported'],
    ['restart', 'Always', 'none', {}, 'VM is not running'],
    ['restart', 'Halted', 'stopping', {}, 'does not support manual restart requests'],
    ['restart', 'Once', 'running', {}, 'does not support manual restart requests'],
    ['migrate', 'Always', 'running', {}, ''],
    ['migrate', 'Always', 'starting', {}, 'VM is not running'],
    ['migrate', 'Always', 'none', {}, 'not found'],
    ['retry', 'Always', 'starting', {}, ''],
    ['retry', 'Always', 'none', {}, 'no instance'],
  ])('%s under %s, instance %s, options %j: %s', (action, runStrategy, there, options, why) => {
    const message = refusal(machineWith(runStrategy, there), action, options);
    if (why === '') expect(message).toBe('');
    else expect(message).toContain(why);
  });

  test.each<[string, Partial<VirtualMachineFacts>, TriggerAction, string]>([
    ['a VM that is being deleted', { deleting: true }, 'restart', 'VM is being deleted'],
    ['a VM that is being deleted', { deleting: true }, 'stop', ''],
    [
      'a VM that cannot work',
      { invalid: 'spec.template.spec is missing.' },
      'restart',
      'spec.template.spec is missing',
    ],
    ['a restart that is requested', { stateChangeRequests: RESTART }, 'restart', 'stop/start already underway'],
    ['a restart that is requested', { stateChangeRequests: RESTART }, 'migrate', ''],
  ])('of %s (%j) a %s: %s', (_, facts, action, why) => {
    const message = refusal(machineWith('Manual', 'running', facts), action);
    if (why === '') expect(message).toBe('');
    else expect(message).toContain(why);
  });

  test('nothing is taken by an entity that has not looked yet, or whose VM is gone', () => {
    expect(refusalOf(initialState(vm), 'stop', { key: 'k' })).toMatchObject({ type: 'NotYet' });
    expect(refusal({ ...machineWith('Always', 'running'), released: true }, 'stop')).toContain('gone');
  });

  test.each([
    [undefined, 'the request is no object'],
    ['restart', 'the request is no object'],
    [[], 'the request is no object'],
    [{}, 'key is missing'],
    [{ key: 7 }, 'key is missing'],
    [{ key: '' }, 'key is missing'],
    [{ key: 'a/b' }, 'key is missing'],
    [{ key: 'a'.repeat(64) }, 'key is missing'],
    [{ key: 'a', options: 'none' }, 'options is no object'],
  ])('%j is refused: %s', (asked, why) => {
    const is = refusalOf(machineWith('Always', 'running'), 'restart', asked);
    expect(is).toEqual({ type: 'Refused', message: expect.stringContaining(why) });
  });
});

describe('an accepted trigger', () => {
  const running = () => machineWith('Always', 'running');
  const commandsOf = (state: VirtualMachineState, event: VirtualMachineEvent) => decide(state, event, at).commands;

  test('begins an operation, once, whatever else is being done', () => {
    const busy: VirtualMachineState = { ...running(), busy: 'delete' };
    expect(commandsOf(busy, triggered('k'))).toMatchObject([
      { type: 'trigger', trigger: { key: 'k', instance: 'i1' } },
    ]);
    const { state } = decide(busy, triggered('k'), at);
    expect(commandsOf(state, triggered('k'))).toEqual([]);
    expect(commandsOf(state, triggered('k', 'migrate'))).toHaveLength(1);
  });

  test('is never refused later, although the VM has become another one', () => {
    const { state } = decide(running(), triggered('k'), at);
    const stopped = after(observed({ runStrategy: 'Halted' }), read()).state;
    expect(refusal({ ...stopped, triggers: state.triggers ?? [] }, 'restart')).toBe('');
  });

  test('has its operation look again at news of VM and instance, until it is over', () => {
    const { state } = decide(running(), triggered('k'), at);
    const id = triggerId(vm, 'restart', 'k');
    expect(commandsOf(state, told(instance('i1', { deleting: true })))).toEqual([{ type: 'wakeTrigger', id }]);
    expect(commandsOf(state, { type: 'timerFired' })).toEqual([]);
    const over = decide(state, { type: 'triggerOver', id }, at).state;
    expect(commandsOf(over, told(instance('i1', { deleting: true })))).toEqual([]);
  });

  test('is forgotten after a number of others, unless it is under way; so many under way are enough', () => {
    const keys = Array.from({ length: REMEMBERED_TRIGGERS + 3 }, (_, n) => `k${n}`);
    const { state } = keys.reduce(
      ({ state: before }, key) => {
        const begun = decide(before, triggered(key), at).state;
        return key === 'k0'
          ? { state: begun }
          : decide(begun, { type: 'triggerOver', id: triggerId(vm, 'restart', key) }, at);
      },
      { state: running() },
    );
    expect(state.triggers).toHaveLength(REMEMBERED_TRIGGERS);
    expect(state.triggers?.[0]).toEqual({ id: triggerId(vm, 'restart', 'k0'), open: true });
    const full = keys
      .slice(0, REMEMBERED_TRIGGERS)
      .reduce((before, key) => decide(before, triggered(key), at).state, running());
    expect(refusalOf(full, 'restart', { key: 'one-more' })?.message).toContain(
      '32 requests of other services are under way',
    );
    expect(refusalOf(full, 'restart', { key: 'k3' })).toBeUndefined();
  });
});
