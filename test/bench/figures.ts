import Table from 'cli-table3';

/** One figure of a benchmark. Times on any machine are noisy: what counts is the ratio to something measured in the same run. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What it is measured against, in the same unit; absent: it stands for itself. */
  against?: number;
  /** value / against. */
  ratio?: number;
  /** The most that `ratio` (without `against`: `value`) may be; absent: for information. */
  limit?: number;
  /** What `against` is made of, in words. */
  note?: string;
}

/** A figure and its ratio. */
export const figure = (one: Omit<Figure, 'ratio'>): Figure =>
  one.against === undefined ? one : { ...one, ratio: one.value / one.against };

export const isWithin = ({ value, ratio, limit }: Figure): boolean => limit === undefined || (ratio ?? value) <= limit;

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
};

const short = (value: number | undefined): string =>
  value === undefined ? '-' : value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });

/** The figures as a table for people. */
export function renderFigures(figures: readonly Figure[]): string {
  const table = new Table({
    head: ['figure', 'value', 'against', 'ratio', 'limit', ''],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'left'],
  });
  for (const one of figures) {
    const { name, value, unit, against, ratio, limit, note } = one;
    table.push([
      note === undefined ? name : `${name}\n  ${note}`,
      `${short(value)} ${unit}`,
      against === undefined ? '-' : `${short(against)} ${unit}`,
      short(ratio),
      short(limit),
      limit === undefined ? '' : isWithin(one) ? 'ok' : 'ABOVE',
    ]);
  }
  return table.toString();
}
