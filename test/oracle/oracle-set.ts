import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from './verdict.ts';

/** How one set of reference answers is compared with ours. */
export interface OracleSet {
  /** What the table calls it. */
  name: string;
  /** File in the folder of reference answers. */
  file: string;
  /** Ids of all rules that may explain differences in it. */
  ruleIds: string[];
  /** `head`: what the file says of all its cases. Undefined: the case belongs to another set. */
  judge: (testCase: unknown, head: unknown) => Verdict | undefined;
}

export interface CaseVerdict {
  id: string;
  verdict: Verdict;
}

/** Judges every case of the set; undefined when the folder has no file for it. @throws Error if the file is not a set */
export function runSet(set: OracleSet, directory: string): CaseVerdict[] | undefined {
  const path = join(directory, set.file);
  if (!existsSync(path)) return undefined;
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const cases = content !== null && typeof content === 'object' && 'cases' in content ? content.cases : undefined;
  if (!Array.isArray(cases)) throw new Error(`${path} has no list "cases": is it a set of reference answers?`);
  return cases.flatMap((testCase: unknown) => {
    const verdict = set.judge(testCase, content);
    return verdict ? [{ id: caseId(testCase), verdict }] : [];
  });
}

const caseId = (testCase: unknown): string =>
  testCase !== null && typeof testCase === 'object' && 'id' in testCase && typeof testCase.id === 'string'
    ? testCase.id
    : '(no id)';
