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

/** Differences of a feature that virtflow does not have yet. */
export interface Gap<Input> {
  feature: string;
  covers: (difference: Difference, input: Input) => boolean;
}

/** Judges the differences of one case: each must follow from a gap or a rule. */
export function judge<Input>(
  differences: Difference[],
  input: Input,
  rules: Rule<Input>[],
  gaps: Gap<Input>[] = [],
): Verdict {
  const used = { features: new Set<string>(), rules: new Set<string>() };
  const unexplained = differences.filter((difference) => {
    const gap = gaps.find(({ covers }) => covers(difference, input));
    const rule = gap ? undefined : rules.find(({ covers }) => covers(difference, input));
    if (gap) used.features.add(gap.feature);
    if (rule) used.rules.add(rule.id);
    return !gap && !rule;
  });
  if (unexplained.length > 0) return { kind: 'different', differences: unexplained };
  if (used.features.size > 0) return { kind: 'uncovered', features: [...used.features].sort() };
  return used.rules.size > 0 ? { kind: 'listed', rules: [...used.rules].sort() } : { kind: 'equal' };
}
