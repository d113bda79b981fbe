import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runSet, type OracleSet } from '../../oracle/oracle-set.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'oracle-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const set: OracleSet = {
  name: 'birds',
  file: 'birds.json',
  ruleIds: [],
  judge: (testCase, head) =>
    JSON.stringify(testCase).includes('finch') && JSON.stringify(head).includes('aviary')
      ? { kind: 'equal' }
      : undefined,
};

test('cases of the set are judged with the head of the file, others are left out', () => {
  writeFileSync(join(directory, 'birds.json'), '{"place":"aviary","cases":[{"id":"1","bird":"finch"},{"id":"2"}]}');
  expect(runSet(set, directory)).toEqual([{ id: '1', verdict: { kind: 'equal' } }]);
});

test('a folder without the set has no cases of it', () => {
  expect(runSet(set, directory)).toBeUndefined();
});

test('a file that is no set is refused', () => {
  writeFileSync(join(directory, 'birds.json'), '{}');
  expect(() => runSet(set, directory)).toThrow(/no list "cases"/);
});
