type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deep equality of JSON values; an absent key, `undefined` and `null` are the same (the API server drops nulls). */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((entry, i) => sameJson(entry, b[i]));
  if (isRecord(a) && isRecord(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => sameJson(a[key], b[key]));
  }
  return (a ?? null) === (b ?? null);
};

/**
 * The JSON merge patch that brings the named fields of `live` to what `wanted` says; fields that `wanted` does not name stay as they are, `null`
 * removes one. Lists are replaced as a whole. Undefined when nothing differs.
 */
export const mergePatchOf = (live: unknown, wanted: Record<string, unknown>): Record<string, Json> | undefined => {
  const before = isRecord(live) ? live : {};
  const patch: Record<string, Json> = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    if (value === null) {
      if (before[key] !== undefined && before[key] !== null) patch[key] = null;
    } else if (isRecord(value)) {
      const inner = mergePatchOf(before[key], value);
      if (inner !== undefined) patch[key] = inner;
      else if (before[key] === undefined) patch[key] = {};
    } else if (!sameJson(before[key], value)) {
      patch[key] = value as Json;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
};

/** For a map (of maps) that is written as a whole: the wanted entries, and `null` for every other one that is there. */
export const replacing = (live: unknown, wanted: object): Record<string, unknown> => {
  const before = isRecord(live) ? live : {};
  return {
    ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
    ...Object.fromEntries(
      Object.entries(wanted).map(([key, value]: [string, unknown]) => [
        key,
        isRecord(value) ? replacing(before[key], value) : value,
      ]),
    ),
  };
};
