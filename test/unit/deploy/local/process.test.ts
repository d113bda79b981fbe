import { expect, test } from '@jest/globals';
import { startTimeOf, stateOf } from '../../../../deploy/local/process.ts';

const stat = (command: string, state: string, startTime: number) =>
  `4242 (${command}) ${state} 1 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 ${startTime} 1351956 54952`;

test.each([
  ['an ordinary name', 'kubelet'],
  ['a name with spaces and parentheses', 'a (b) c) S 9'],
])('start time and state are read after %s', (_, command) => {
  expect(startTimeOf(stat(command, 'Z', 98_765))).toBe(98_765);
  expect(stateOf(stat(command, 'Z', 98_765))).toBe('Z');
});
