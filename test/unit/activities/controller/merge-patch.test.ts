import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergePatchOf, replacing, sameJson } from '../../../../activities/controller/merge-patch.ts';

/** RFC 7386, as the API server applies it. */
const apply = (target: unknown, patch: unknown): unknown => {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = apply(result[key], value);
  }
  return result;
};

test.each<[string, unknown, Record<string, unknown>, unknown]>([
  ['nothing differs', { a: 1, b: { c: [1] } }, { b: { c: [1] } }, undefined],
  ['a field differs', { a: 1, b: 2 }, { a: 3 }, { a: 3 }],
  ['only the inner difference is sent', { s: { a: 1, b: 2 } }, { s: { a: 1, b: 3 } }, { s: { b: 3 } }],
  ['a list is sent whole', { l: [1, 2] }, { l: [1, 3] }, { l: [1, 3] }],
  ['null removes what is there', { a: 1 }, { a: null }, { a: null }],
  ['null for what is not there is nothing', {}, { a: null }, undefined],
  ['undefined says nothing', { a: 1 }, { a: undefined }, undefined],
  [
    'a null in a list that the server dropped is no difference',
    { l: [{ a: 1 }] },
    { l: [{ a: 1, b: null }] },
    undefined,
  ],
  ['no object yet', undefined, { s: { a: 1 } }, { s: { a: 1 } }],
  ['an empty map is written once', { s: {} }, { s: { m: {} } }, { s: { m: {} } }],
])('%s', (_, live, wanted, patch) => {
  expect(mergePatchOf(live, wanted)).toEqual(patch);
});

test('a map that is replaced loses the entries that are not wanted', () => {
  expect(mergePatchOf({ m: { a: '1', b: '2' } }, { m: replacing({ a: '1', b: '2' }, { b: '2' }) })).toEqual({
    m: { a: null },
  });
});

const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean());
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const record = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json, { maxKeys: 3 });

test('property: after the patch, nothing differs any more', () => {
  fc.assert(
    fc.property(record, record, (live, wanted) => {
      const patch = mergePatchOf(live, wanted);
      const after = patch === undefined ? live : apply(live, patch);
      expect(mergePatchOf(after, wanted)).toBeUndefined();
    }),
  );
});

test('property: equal to itself, whatever the order of keys', () => {
  fc.assert(
    fc.property(record, (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(sameJson(value, reversed)).toBe(true);
    }),
  );
});
