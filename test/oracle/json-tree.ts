import { compareQuantities, QuantityError } from '../../api/kubernetes/quantity.ts';
import type { Difference } from './verdict.ts';

/** The leaves of a JSON value by path. Items of a list are named by their `name` where all have one, else by their index. */
export function leaves(value: unknown, path = ''): Map<string, string> {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== 'object') return new Map([[path, JSON.stringify(value)]]);
  const entries: [string, unknown][] = Array.isArray(value) ? named(value) : Object.entries(value);
  if (entries.length === 0) return new Map([[path, Array.isArray(value) ? '[]' : '{}']]);
  return new Map(entries.flatMap(([key, item]) => [...leaves(item, path === '' ? key : `${path}/${key}`)]));
}

function named(items: unknown[]): [string, unknown][] {
  const names = items.map((item) =>
    item !== null && typeof item === 'object' && 'name' in item && typeof item.name === 'string'
      ? item.name
      : undefined,
  );
  const unique = new Set(names).size === items.length && !names.includes(undefined);
  return items.map((item, index) => [unique ? (names[index] ?? '') : `[${index}]`, item]);
}

const QUANTITY = /\/(requests|limits)\/[^/]+(\/[^/]+)?$|\/memory\/\w+$|\/capacity$/;

/** Differences of two JSON values, leaf by leaf; quantities are equal if they mean the same amount. */
export function compareJson(ours: unknown, theirs: unknown): Difference[] {
  const [our, their] = [leaves(ours), leaves(theirs)];
  const paths = [...new Set([...our.keys(), ...their.keys()])].sort();
  return paths.flatMap((path) => {
    const difference = { path, ours: our.get(path), theirs: their.get(path) };
    return same(difference) ? [] : [difference];
  });
}

function same({ path, ours, theirs }: Difference): boolean {
  if (ours === theirs) return true;
  if (ours === undefined || theirs === undefined || !QUANTITY.test(path)) return false;
  try {
    return compareQuantities(unquoted(ours), unquoted(theirs)) === 0;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

const unquoted = (leaf: string): string => leaf.replace(/^"|"$/g, '');
