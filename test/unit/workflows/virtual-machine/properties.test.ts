import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InstanceFacts } from '../../../../api/contract/facts.ts';
import { decide } from '../../../../workflows/virtual-machine/decide.ts';
import { reportOf } from '../../../../workflows/virtual-machine/report.ts';
import type {
  StateChangeRequest,
  VirtualMachineCommand,
  VirtualMachineEvent,
  VirtualMachineState,
} from '../../../../workflows/virtual-machine/state.ts';
import { initialState, pendingRequests } from '../../../../workflows/virtual-machine/state.ts';
import { after as moved } from '../../../../workflows/shared/time.ts';
import { at, instance, observed, read, told, vm } from './facts.ts';

interface Step {
  before: VirtualMachineState;
  after: VirtualMachineState;
  commands: VirtualMachineCommand[];
}

/** An API server with one VM, whose instances do what they are told; what happens next is drawn. */
const lives = fc
  .record({
    requests: fc.array(
      fc.constantFrom<StateChangeRequest>({ action: 'Start' }, { action: 'Stop', uid: 'i1' }, { action: 'Stop' }),
      { maxLength: 4 },
    ),
    runStrategy: fc.constantFrom('Always', 'Halted', 'Manual'),
    choices: fc.array(fc.nat(6), { maxLength: 40 }),
  })
  .map(({ requests, runStrategy, choices }) => live(requests, runStrategy, choices));

const live = (
  requests: StateChangeRequest[],
  runStrategy: string,
  choices: number[],
): { steps: Step[]; state: VirtualMachineState } => {
  const steps: Step[] = [];
  let state = initialState(vm);
  let time = at;
  let there: InstanceFacts | undefined;
  let created = 0;
  let list = requests;
  const answers: VirtualMachineCommand[] = [];
  const take = (event: VirtualMachineEvent): void => {
    const decision = decide(state, event, time);
    steps.push({ before: state, after: decision.state, commands: decision.commands });
    state = decision.state;
    answers.push(...decision.commands);
  };
  const see = (): void => take(observed({ runStrategy, stateChangeRequests: list }));
  const answer = (command: VirtualMachineCommand): void => {
    switch (command.type) {
      case 'adopt':
        return take(read(there));
      case 'create':
        there ??= instance(`i${(created += 1)}`, { phase: 'Pending' });
        return take({ type: 'created', instance: there });
      case 'delete':
        there = there === undefined ? undefined : { ...there, deleting: true };
        return take({ type: 'deleted', instance: there ?? { ...instance('i0'), vmi: command.instance, gone: true } });
      case 'release':
        return take({ type: 'released' });
    }
  };
  /** 0: an answer comes; 1: time passes; 2, 3, 4: the instance goes on, ends, goes; 5: requests leave the list; 6: the VM is told again. */
  const happen = (choice: number): void => {
    const command = answers.shift();
    if (choice === 0 && command !== undefined) return answer(command);
    if (command !== undefined) answers.unshift(command);
    if (choice === 1) {
      time = moved(time, 400_000);
      return take({ type: 'timerFired' });
    }
    if (choice === 2 && there !== undefined && there.phase === 'Pending') there = { ...there, phase: 'Running' };
    else if (choice === 3 && there !== undefined) there = { ...there, phase: 'Failed' };
    else if (choice === 4 && there?.deleting === true) {
      const gone = { ...there, gone: true };
      there = undefined;
      return take(told(gone));
    } else if (choice === 5) list = list.slice(state.settled.length);
    else if (choice === 6) return see();
    if (choice === 5) return see();
    if (there !== undefined) take(told(there));
  };
  see();
  choices.forEach(happen);
  // From here on everything happens that can: what was asked for must come to its end.
  for (let round = 0; round < 60; round += 1) happen([0, 1, 2, 0, 4, 5][round % 6] ?? 0);
  return { steps, state };
};

const holdsAlways = (holds: (life: ReturnType<typeof live>) => void): void =>
  fc.assert(fc.property(lives, holds), { numRuns: 300, endOnFailure: true });

test('one activity at a time acts for the VM, and none before the world was looked at', () =>
  holdsAlways(({ steps }) => {
    for (const { before, after, commands } of steps) {
      expect(commands.length).toBeLessThanOrEqual(1);
      if (commands.length === 1 && before.busy !== undefined) expect(after.busy).toBe(commands[0]?.type);
      if (before.adoption === 'needed' && after.adoption === 'needed')
        expect(commands.filter(({ type }) => type !== 'adopt')).toEqual([]);
    }
  }));

test('every request comes to its end', () => holdsAlways(({ state }) => expect(pendingRequests(state)).toEqual([])));

test('no second instance is created while one is there', () =>
  holdsAlways(({ steps }) => {
    for (const { after, commands } of steps) {
      if (commands.some(({ type }) => type === 'create')) expect(after.instance).toBeUndefined();
    }
  }));

test('a VM that shall run never has the intent to stop, whatever is between two instances', () =>
  holdsAlways(({ steps }) => {
    for (const { after } of steps) {
      if (after.object?.runStrategy === 'Always') expect(reportOf(after).intent).not.toBe('stop');
    }
  }));

test('the state survives JSON, as continue-as-new carries it', () =>
  holdsAlways(({ steps }) => {
    for (const { after } of steps) expect(JSON.parse(JSON.stringify(after))).toEqual(after);
  }));

test('in the end the world is as the run strategy says', () =>
  holdsAlways(({ state }) => {
    if (state.object?.runStrategy === 'Always') expect(state.instance).toBeDefined();
    if (state.object?.runStrategy === 'Halted') expect(state.instance).toBeUndefined();
  }));
