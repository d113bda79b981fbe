import { expect, test } from '@jest/globals';
import { compareJson } from '../../oracle/json-tree.ts';

const compare = (ours: unknown, theirs: unknown) =>
  compareJson(ours, theirs).map(({ path, ours, theirs }) => `${path}: ${ours} / ${theirs}`);

test.each([
  [{ a: 1, b: undefined }, { a: 1, c: null }, []],
  [{ a: 1 }, { a: '1' }, ['a: 1 / "1"']],
  [{ a: {}, b: 1 }, { b: 1 }, ['a: {} / undefined']],
  [{ a: [{ name: 'x' }, { name: 'y' }] }, { a: [{ name: 'y' }, { name: 'x' }] }, []],
  [{ a: ['x', 'y'] }, { a: ['y', 'x'] }, ['a/[0]: "x" / "y"', 'a/[1]: "y" / "x"']],
  [{ a: { requests: { cpu: '1' } } }, { a: { requests: { cpu: '1000m' } } }, []],
  [
    { a: { limits: { 'x.test/kvm': '1' } } },
    { a: { limits: { 'x.test/kvm': '2' } } },
    ['a/limits/x.test/kvm: "1" / "2"'],
  ],
  [{ a: { requests: { cpu: '1' } } }, { a: { requests: { cpu: 'lots' } } }, ['a/requests/cpu: "1" / "lots"']],
])('%p and %p', (ours, theirs, differences) => {
  expect(compare(ours, theirs)).toEqual(differences);
});
