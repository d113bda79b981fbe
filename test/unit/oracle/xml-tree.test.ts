import { expect, test } from '@jest/globals';
import { compareTrees, mapTree, parseXml } from '../../oracle/xml-tree.ts';

const compare = (ours: string, theirs: string) =>
  compareTrees(parseXml(ours), parseXml(theirs), 'a').map(({ path, ours, theirs }) => `${path}: ${ours} / ${theirs}`);

test.each([
  ['<a x="1"/>', '<a x="1"></a>', []],
  ['<a><b/><c/></a>', '<a><c/><b/></a>', []],
  ['<a>\n  <b>t</b>\n</a>', '<a><b>t</b></a>', []],
  ['<a x="1"/>', '<a x="2"/>', ['a@x: 1 / 2']],
  ['<a/>', '<a x="2"/>', ['a@x: undefined / 2']],
  ['<a>1</a>', '<a>2</a>', ['a: 1 / 2']],
  ['<a><b i="1"/><b i="2"/></a>', '<a><b i="2"/><b i="1"/></a>', ['a/b[0]@i: 1 / 2', 'a/b[1]@i: 2 / 1']],
  ['<a><b/></a>', '<a/>', ['a/b: <b> / undefined']],
  ['<a/>', '<a><b c="d">e<f/></b></a>', ['a/b: undefined / <b c="d">e<f/>']],
])('%s and %s', (ours, theirs, differences) => {
  expect(compare(ours, theirs)).toEqual(differences);
});

test('entities are decoded', () => {
  expect(parseXml('<a x="&lt;">&amp;</a>')).toMatchObject({ attributes: { x: '<' }, text: '&' });
});

test('a tree is rewritten from its leaves, by path', () => {
  const paths: string[] = [];
  const mapped = mapTree(parseXml('<a><b><c/></b><c/></a>'), (element, path) => {
    paths.push(path);
    return path === 'a/b/c' ? undefined : element;
  });
  expect(paths).toEqual(['a/b/c', 'a/b', 'a/c', 'a']);
  expect(mapped?.children.map(({ name, children }) => [name, children.length])).toEqual([
    ['b', 0],
    ['c', 0],
  ]);
});

test('what is no document is refused', () => {
  expect(() => parseXml('')).toThrow(/no root element/);
});
