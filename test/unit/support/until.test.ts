import { expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';

const soon = { timeoutMs: 30, everyMs: 5 };

test('returns what the condition gives in the end', async () => {
  let looks = 0;
  expect(await until('the third look', () => (looks += 1) === 3 && 'there', { everyMs: 5 })).toBe('there');
});

test('a wait in vain names what was waited for and what was seen instead', async () => {
  const waiting = until('a Pod', () => undefined, { ...soon, seen: () => ({ phase: 'Pending' }) });
  await expect(waiting).rejects.toThrow('not within 30 ms: a Pod\n{"phase":"Pending"}');
});

test('what cannot be told does not hide what was waited for', async () => {
  const seen = () => Promise.reject(new Error('closed'));
  await expect(until('a Pod', () => false, { ...soon, seen })).rejects.toThrow(/a Pod\n.*Error: closed/);
});

test('a look that takes longer than the wait counts', async () => {
  const slowLook = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 60));
  expect(await until('an answer', slowLook, soon)).toBe(true);
});

test('a look that never comes back ends the wait', async () => {
  const never = () => new Promise<boolean>(() => undefined);
  await expect(until('an answer', never, { ...soon, lastLookMs: 20 })).rejects.toThrow('not within 30 ms: an answer');
});

test('a condition that throws ends the wait with what it throws', async () => {
  const gone = (): boolean => {
    throw new Error('the VMI is gone');
  };
  await expect(until('a phase', gone, soon)).rejects.toThrow('the VMI is gone');
});
