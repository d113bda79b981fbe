/** The smallest value that this share of all does not exceed (nearest rank). @param share above 0, at most 1 */
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN;
