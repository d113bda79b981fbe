import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InstanceFacts, VirtualMachineFacts } from '../../../../api/contract/facts.ts';
import { decide } from '../../../../workflows/virtual-machine/decide.ts';
import { reportOf } from '../../../../workflows/virtual-machine/report.ts';
import type {
  StateChangeRequest,
  VirtualMachineCommand,
  VirtualMachineEvent,
  VirtualMachineState,
} from '../../../../workflows/virtual-machine/state.ts';
import { initialState, pendingRequests, pendingStart } from '../../../../workflows/virtual-machine/state.ts';
import { after as moved } from '../../../../workflows/shared/time.ts';
import { at, instance, machine, read, told, vm } from './facts.ts';

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
    runStrategy: fc.constantFrom('Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once'),
    choices: fc.array(fc.nat(7), { maxLength: 40 }),
    asksInTheEnd: fc.boolean(),
  })
  .map(live);

interface Drawn {
  requests: StateChangeRequest[];
  runStrategy: string;
  choices: number[];
  asksInTheEnd: boolean;
}

function live({ requests, runStrategy: first, choices, asksInTheEnd }: Drawn) {
  const steps: Step[] = [];
  let state = initialState(vm);
  let time = at;
  let there: InstanceFacts | undefined;
  let [created, version, generation] = [0, 1, 1];
  let [list, runStrategy] = [requests, first];
  const answers: VirtualMachineCommand[] = [];
  const take = (event: VirtualMachineEvent): void => {
    const decision = decide(state, event, time);
    steps.push({ before: state, after: decision.state, commands: decision.commands });
    state = decision.state;
    answers.push(...decision.commands);
  };
  const facts = (): VirtualMachineFacts =>
    machine({ runStrategy, generation, stateChangeRequests: list, resourceVersion: String((version += 1)) });
  const see = (): void => take({ type: 'virtualMachineObserved', facts: facts() });
  const publish = (): void => {
    const settled = state.settled.at(-1)?.id ?? 0;
    list = list.slice(state.settled.length);
    take({ type: 'published', facts: facts(), settled });
  };
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
      case 'switchOn':
        [runStrategy, generation] = ['Always', generation + 1];
        return take({ type: 'changed', facts: facts() });
      case 'queueStart':
        list = list.some(({ action }) => action === 'Start') ? list : [...list, { action: 'Start' }];
        return take({ type: 'changed', facts: facts() });
      case 'provision':
        return take({ type: 'provisioned', state: 'ready' });
      case 'release':
        return take({ type: 'released' });
      case 'trigger':
      case 'wakeTrigger':
        throw new Error('nobody triggers anything here');
    }
  };
  /** 0: an answer comes; 1: time passes; 2, 3, 4: the instance goes on, ends, goes; 5: the status is written; 6: the VM is told again; 7: a stop. */
  const happen = (choice: number): void => {
    const command = answers.shift();
    if (choice === 0 && command !== undefined) return answer(command);
    if (command !== undefined) answers.unshift(command);
    if (choice === 1) {
      time = moved(time, 400_000);
      return take({ type: 'timerFired' });
    }
    if (choice === 5) return publish();
    if (choice === 7 && there !== undefined) list = [...list, { action: 'Stop', uid: there.vmi.uid }];
    if (choice >= 6) return see();
    if (choice === 2 && there !== undefined && there.phase === 'Pending') there = { ...there, phase: 'Running' };
    else if (choice === 3 && there !== undefined) there = { ...there, phase: 'Failed' };
    else if (choice === 4 && there?.deleting === true) {
      const gone = { ...there, gone: true };
      there = undefined;
      return take(told(gone));
    }
    if (there !== undefined) take(told(there));
  };
  see();
  choices.forEach(happen);
  if (asksInTheEnd) {
    list = [...list, { action: 'Start' }];
    see();
  }
  // From here on everything happens that can: what was asked for must come to its end.
  for (let round = 0; round < 60; round += 1) happen([0, 1, 2, 0, 4, 5][round % 6] ?? 0);
  return { steps, state, list, there, first, asksInTheEnd };
}

const holdsAlways = (holds: (life: ReturnType<typeof live>) => void): void =>
  fc.assert(fc.property(lives, holds), { numRuns: 300, endOnFailure: true });

test('one activity at a time acts for the VM, and none before the world was looked at', () =>
  holdsAlways(({ steps }) => {
    for (const { before, after, commands } of steps) {
      expect(commands.length).toBeLessThanOrEqual(1);
      if (commands.length === 1 && before.busy !== undefined) expect(after.busy).toBe(commands[0]?.type);
      // What creates returns the instance that is there.
      if (before.adoption === 'needed' && after.adoption === 'needed')
        expect(commands.filter(({ type }) => type !== 'adopt' && type !== 'create')).toEqual([]);
    }
  }));

test('every request comes to its end, and leaves the list with it', () =>
  holdsAlways(({ state, list }) => {
    expect(pendingRequests(state)).toEqual([]);
    expect(list).toEqual([]);
  }));

test('a start that is asked for, whatever goes on, ends running', () =>
  holdsAlways(({ first, asksInTheEnd, there }) => {
    if (asksInTheEnd && first !== 'Once') expect(there).toMatchObject({ phase: 'Running', deleting: false });
  }));

test('no second instance is created while one is there', () =>
  holdsAlways(({ steps }) => {
    for (const { after, commands } of steps) {
      if (commands.some(({ type }) => type === 'create')) expect(after.instance).toBeUndefined();
    }
  }));

test('what a VM that shall run says is always that a run follows, whatever is between two instances', () =>
  holdsAlways(({ steps }) => {
    for (const { after } of steps) {
      const asks = pendingStart(after) !== undefined && after.object?.runStrategy !== 'Once';
      if (after.object?.runStrategy === 'Always' || asks) expect(reportOf(after).then).toBe('run');
    }
  }));

test('the state survives JSON, as continue-as-new carries it', () =>
  holdsAlways(({ steps }) => {
    for (const { after } of steps) expect(JSON.parse(JSON.stringify(after))).toEqual(after);
  }));

test('in the end the world is as the run strategy says', () =>
  holdsAlways(({ state, there }) => {
    expect(state.instance?.vmi.uid).toBe(there?.vmi.uid);
    const { runStrategy } = state.object ?? {};
    if (runStrategy === 'Always' || runStrategy === 'Once') expect(there).toBeDefined();
    if (runStrategy === 'Halted') expect(there).toBeUndefined();
    if (runStrategy === 'RerunOnFailure') expect(there?.phase).not.toBe('Failed');
  }));
