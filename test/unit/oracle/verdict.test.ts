import { expect, test } from '@jest/globals';
import { judge } from '../../oracle/verdict.ts';

const differs = (path: string) => ({ path, ours: 'a', theirs: 'b' });
const rules = [{ id: 'colour', covers: ({ path }: { path: string }) => path === 'colour' }];
const gaps = [{ feature: 'song', covers: ({ path }: { path: string }) => path === 'song' }];

test.each([
  [[], { kind: 'equal' }],
  [['colour'], { kind: 'listed', rules: ['colour'] }],
  [['song', 'colour'], { kind: 'uncovered', features: ['song'] }],
  [['colour', 'size'], { kind: 'different', differences: [differs('size')] }],
  [['song', 'size'], { kind: 'different', differences: [differs('size')] }],
])('differences in %p', (paths, verdict) => {
  expect(judge(paths.map(differs), undefined, rules, gaps)).toEqual(verdict);
});
