import { expect, test } from '@jest/globals';
import { details, reasons, share, summaryTable } from '../../oracle/report.ts';

const results = [
  {
    name: 'birds',
    cases: [
      { id: '1', verdict: { kind: 'equal' as const } },
      { id: '2', verdict: { kind: 'listed' as const, rules: ['colour'] } },
      { id: '3', verdict: { kind: 'uncovered' as const, features: ['song'] } },
      {
        id: '4',
        verdict: { kind: 'different' as const, differences: [{ path: 'size', ours: undefined, theirs: '3' }] },
      },
    ],
  },
  { name: 'fish', cases: undefined },
];

test('the table counts the four kinds, and says which sets are missing', () => {
  const lines = summaryTable(results).split('\n');
  expect(lines.find((line) => line.includes('birds'))?.match(/\d+/g)).toEqual(['4', '1', '1', '1', '1']);
  expect(lines.find((line) => line.includes('fish'))).toContain('not in this folder');
});

test('reasons are counted, differences are told', () => {
  expect(reasons(results)).toEqual([expect.stringContaining('1 × colour'), expect.stringContaining('1 × song')]);
  expect(share(results)).toBe('1 of 4 cases (25.0 %) differ by a listed reason');
  expect(share([])).toBe('0 of 0 cases (0.0 %) differ by a listed reason');
  expect(results.flatMap(details)).toEqual(['birds, 4:', "    size: ours (nothing), KubeVirt's 3"]);
});
