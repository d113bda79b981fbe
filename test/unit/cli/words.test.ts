import { expect, test } from '@jest/globals';
import { briefly, bytes, clause, command, duration, firstSentence } from '../../../cli/words.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, 0) + seconds * 1000).toISOString();

test.each([
  [0, 0.4, '0.4 s'],
  [0, 9.94, '9.9 s'],
  [0, 12.3, '12 s'],
  [0, 59.6, '1 min 0 s'],
  [0, 185, '3 min 5 s'],
  [5, 0, '0.0 s'],
])('the time from %d s to %d s reads %s', (from, to, text) => {
  expect(duration(at(from), at(to))).toBe(text);
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [96 * 2 ** 20, '96.0 MiB'],
  [512 * 2 ** 20, '512 MiB'],
  [1.5 * 2 ** 30, '1.5 GiB'],
  [2 ** 60, '1048576 TiB'],
])('%d bytes read %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});

test('a command to type next names the namespace unless it is the default one', () => {
  expect(command('cancel', { namespace: 'default', name: 'web' })).toBe('virtflow cancel web');
  expect(command('cancel', { namespace: 'prod', name: 'web' })).toBe('virtflow cancel web -n prod');
});

test('a clause goes on after it', () => {
  expect(clause(' no room on any node. ')).toBe('no room on any node');
});

test("the scheduler's tail is left out", () => {
  const message =
    '0/2 nodes are available: 2 Insufficient memory. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling';
  expect(briefly(message)).toBe('0/2 nodes are available: 2 Insufficient memory');
  expect(briefly('no room.')).toBe('no room.');
});

test('the first sentence of a message is what is wrong', () => {
  expect(firstSentence('claim n/a does not exist. Create it; it goes on.')).toBe('claim n/a does not exist');
  expect(firstSentence('version 2.1 is too old.')).toBe('version 2.1 is too old');
});
