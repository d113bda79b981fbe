/** One value that two answers do not agree on; `undefined`: not there. */
export interface Difference {
  /** Where, with indices: "domain/devices/disk[0]/driver@cache". */
  path: string;
  ours: string | undefined;
  theirs: string | undefined;
}

export type Verdict =
  | { kind: 'equal' }
  /** Every difference follows from a listed rule. */
  | { kind: 'listed'; rules: string[] }
  | { kind: 'different'; differences: Difference[] }
  /** The input uses features that virtflow does not have yet. */
  | { kind: 'uncovered'; features: string[] };

/** A decision to answer otherwise than KubeVirt: `covers` says which differences follow from it. Told in docs/kubevirt-differences.md. */
export interface Rule<Input> {
  id: string;
  covers: (difference: Difference, input: Input) => boolean;
}

/** Judges the differences of one case by the rules. */
export function judge<Input>(differences: Difference[], input: Input, rules: Rule<Input>[]): Verdict {
  if (differences.length === 0) return { kind: 'equal' };
  const used = new Set<string>();
  const unexplained = differences.filter((difference) => {
    const rule = rules.find(({ covers }) => covers(difference, input));
    if (rule) used.add(rule.id);
    return rule === undefined;
  });
  return unexplained.length > 0
    ? { kind: 'different', differences: unexplained }
    : { kind: 'listed', rules: [...used].sort() };
}
