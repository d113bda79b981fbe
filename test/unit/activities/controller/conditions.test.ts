import { expect, test } from '@jest/globals';
import { mergeConditions, timestamp } from '../../../../activities/controller/conditions.ts';

const then = '2026-01-01T00:00:00Z';
const now = '2026-01-02T00:00:00Z';
const live = [
  { type: 'Ready', status: 'False', reason: 'A', lastTransitionTime: then },
  { type: 'Paused', status: 'True', lastTransitionTime: then },
  { type: 'Theirs', status: 'True', lastTransitionTime: then },
];
const owned = (type: string): boolean => type !== 'Theirs';

test('a status that stays keeps its time, whatever the reason says now', () => {
  const [ready] = mergeConditions(live, [{ type: 'Ready', status: 'False', reason: 'B' }], owned, now);
  expect(ready).toMatchObject({ status: 'False', reason: 'B', lastTransitionTime: then });
});

test('a status that changes gets a new time', () => {
  const [ready] = mergeConditions(live, [{ type: 'Ready', status: 'True' }], owned, now);
  expect(ready).toMatchObject({ status: 'True', lastTransitionTime: now });
});

test('an own condition that is not reported goes, a foreign one stays', () => {
  const types = mergeConditions(live, [{ type: 'Ready', status: 'True' }], owned, now).map(({ type }) => type);
  expect(types).toEqual(['Ready', 'Theirs']);
});

test('times are whole seconds', () => {
  expect(timestamp('2026-01-01T00:00:00.987Z')).toBe('2026-01-01T00:00:00Z');
});
