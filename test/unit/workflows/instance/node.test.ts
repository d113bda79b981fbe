import { expect, test } from '@jest/globals';
import type { NodeReport } from '../../../../api/contract/nodes.ts';
import { decide } from '../../../../workflows/instance/decide.ts';
import { reportOf } from '../../../../workflows/instance/report.ts';
import type { InstanceEvent, InstanceState } from '../../../../workflows/instance/state.ts';
import { initialState } from '../../../../workflows/instance/state.ts';
import { at, instance, pod, vmi } from './facts.ts';

const running: InstanceState = {
  ...initialState(vmi),
  ...{ object: instance({ phase: 'Running' }), adoption: 'done', phase: 'Running', started: true, epoch: 1 },
  ...{ pod: { name: 'p1', uid: 'p1', node: 'n1' }, podFacts: pod({}) },
};
const told = (standing: NodeReport['standing'], node = 'n1'): InstanceEvent => ({
  type: 'nodeReported',
  report: { node, standing, message: `${node} is ${standing}` },
});
const after = (state: InstanceState, ...events: InstanceEvent[]): InstanceState =>
  events.reduce((seen, event) => decide(seen, event, at).state, state);
const unresponsive = (state: InstanceState) =>
  reportOf(state).conditions.find(({ type }) => type === 'NodeUnresponsive');

test.each<[string, InstanceEvent[], string | undefined]>([
  ['its node is silent', [told('silent')], 'n1 is silent'],
  ['its node is silent, then back', [told('silent'), told('responsive')], undefined],
  ['another node is silent', [told('silent', 'n2')], undefined],
])('an instance: %s', (_, events, message) => {
  expect(unresponsive(after(running, ...events))?.message).toBe(message);
  expect(after(running, ...events)).toMatchObject({ phase: 'Running' });
});

test('silence alone ends nothing, however often it is told', () => {
  const decision = decide(after(running, told('silent')), told('silent'), at);
  expect(decision.commands).toEqual([]);
});

test('on a fenced node nothing is left to do but to clear away', () => {
  const { commands } = decide(running, told('fenced'), at);
  expect(commands).toMatchObject([
    { type: 'begin', operation: { kind: 'shutdown', cause: 'nodeFenced', end: 'nodeLost', epoch: 1 } },
  ]);
  expect(decide(running, told('fenced', 'n2'), at).commands).toEqual([]);
});

test('an operation under way looks again, and a start that has lost its node is given up', () => {
  const starting: InstanceState = {
    ...{ ...running, phase: 'Scheduled', started: false },
    operation: { id: 'vmi-start/i/1', kind: 'start', attempt: 1, phase: 'Starting' },
  };
  expect(decide(starting, told('silent'), at).commands).toMatchObject([
    { type: 'forward', message: { signal: 'wake' } },
  ]);
  expect(decide(starting, told('fenced'), at).commands).toMatchObject([
    { type: 'forward', message: { signal: 'wake' } },
    { type: 'cancel' },
  ]);
});

test('a shutdown that failed for lack of proof is begun again', () => {
  const failure = { type: 'Unproven', message: 'nobody answers' } as const;
  const failed: InstanceState = { ...running, failed: { id: 'vmi-shutdown/i/1', kind: 'shutdown', failure } };
  expect(decide(failed, told('silent'), at).commands).toEqual([]);
  expect(decide(failed, told('fenced'), at).commands).toMatchObject([
    { type: 'begin', operation: { kind: 'shutdown', retryOf: 'vmi-shutdown/i/1' } },
  ]);
});
