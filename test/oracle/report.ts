import Table from 'cli-table3';
import type { CaseVerdict } from './oracle-set.ts';
import type { Difference, Verdict } from './verdict.ts';

export interface SetResult {
  name: string;
  /** Undefined: the folder has no such set. */
  cases: CaseVerdict[] | undefined;
}

const count = (cases: CaseVerdict[], kind: Verdict['kind']): number =>
  cases.filter(({ verdict }) => verdict.kind === kind).length;

export function summaryTable(results: SetResult[]): string {
  const table = new Table({
    head: ['set', 'cases', 'equal', 'different by a listed reason', 'different', 'not covered yet'],
    style: { head: [], border: [] },
  });
  for (const { name, cases } of results)
    table.push(
      cases === undefined
        ? [name, { colSpan: 5, content: 'not in this folder' }]
        : [
            name,
            cases.length,
            ...(['equal', 'listed', 'different', 'uncovered'] as const).map((kind) => count(cases, kind)),
          ],
    );
  return table.toString();
}

/** How often each reason came up, over all sets. */
export function reasons(results: SetResult[]): string[] {
  const verdicts = results.flatMap(({ cases }) => cases ?? []).map(({ verdict }) => verdict);
  return [
    ...tally(verdicts.flatMap((verdict) => (verdict.kind === 'listed' ? verdict.rules : []))).map(
      (line) => `listed reason   ${line}`,
    ),
    ...tally(verdicts.flatMap((verdict) => (verdict.kind === 'uncovered' ? verdict.features : []))).map(
      (line) => `not covered yet ${line}`,
    ),
  ];
}

/** How many of all cases differ by a listed reason. */
export function share(results: SetResult[]): string {
  const all = results.flatMap(({ cases }) => cases ?? []);
  const listed = count(all, 'listed');
  const percent = all.length === 0 ? 0 : (100 * listed) / all.length;
  return `${listed} of ${all.length} cases (${percent.toFixed(1)} %) differ by a listed reason`;
}

const tally = (names: string[]): string[] => {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, uses]) => `${String(uses.length).padStart(4)} × ${name}`);
};

const show = (value: string | undefined): string => value ?? '(nothing)';
const line = ({ path, ours, theirs }: Difference): string =>
  `    ${path}: ours ${show(ours)}, KubeVirt's ${show(theirs)}`;

/** Cases in "different" with all that differs. */
export const details = ({ name, cases = [] }: SetResult): string[] =>
  cases.flatMap(({ id, verdict }) =>
    verdict.kind === 'different' ? [`${name}, ${id}:`, ...verdict.differences.map(line)] : [],
  );
