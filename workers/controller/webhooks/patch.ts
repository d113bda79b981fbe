import type { PatchOperation } from './review.ts';

const PARTS = ['metadata', 'spec', 'status'] as const;

type Parts = Partial<Record<(typeof PARTS)[number], unknown>>;

/** What makes of an object, as it came, the one that is to be stored: whole parts, since that is all that ever changes. */
export const patchOf = (before: Parts, after: Parts): PatchOperation[] =>
  PARTS.flatMap((part): PatchOperation[] => {
    const [was, is] = [before[part], after[part]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    return [is === undefined ? { op: 'remove', path: `/${part}` } : { op: 'add', path: `/${part}`, value: is }];
  });

/** Equal, whatever the order of keys. */
export const isSame = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [mine, theirs] = [
    new Map<string, unknown>(Object.entries(one)),
    new Map<string, unknown>(Object.entries(other)),
  ];
  return (
    mine.size === theirs.size && [...mine].every(([key, value]) => theirs.has(key) && isSame(value, theirs.get(key)))
  );
};
