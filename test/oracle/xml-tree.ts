import { XMLParser } from 'fast-xml-parser';
import type { Difference } from './verdict.ts';

/** An element as both sides write it. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

const ATTRIBUTES = ':@';
const TEXT = '#text';
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
});

type RawNode = Record<string, unknown>;

/** Parses a document with one root. @throws Error if there is none */
export function parseXml(xml: string): Element {
  const [root] = elements(parser.parse(xml));
  if (root === undefined) throw new Error('the document has no root element');
  return root;
}

function elements(nodes: unknown): Element[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: RawNode) => {
    const name = Object.keys(node).find((key) => key !== ATTRIBUTES && key !== TEXT && !key.startsWith('?'));
    if (name === undefined) return [];
    return [
      {
        name,
        attributes: strings(node[ATTRIBUTES]),
        text: textOf(node[name]),
        children: elements(node[name]),
      },
    ];
  });
}

const strings = (attributes: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes ?? {}).map(([name, value]) => [name, String(value)]));

const textOf = (nodes: unknown): string =>
  Array.isArray(nodes)
    ? nodes
        .flatMap((node: RawNode) => (TEXT in node ? [String(node[TEXT])] : []))
        .join('')
        .trim()
    : '';

/** Rewrites the tree from the leaves up; undefined takes an element away. `path` is the names from the root. */
export function mapTree(
  element: Element,
  change: (element: Element, path: string) => Element | undefined,
  parent = '',
): Element | undefined {
  const path = parent === '' ? element.name : `${parent}/${element.name}`;
  const children = element.children.flatMap((child) => mapTree(child, change, path) ?? []);
  return change({ ...element, children }, path);
}

/** Differences of two trees. Siblings of one name keep their order, siblings of different names have none. */
export function compareTrees(ours: Element | undefined, theirs: Element | undefined, path: string): Difference[] {
  if (ours === undefined || theirs === undefined) {
    return [{ path, ours: ours && summary(ours), theirs: theirs && summary(theirs) }];
  }
  return [
    ...compareValues(ours.attributes, theirs.attributes, (name) => `${path}@${name}`),
    ...(ours.text === theirs.text ? [] : [{ path, ours: ours.text, theirs: theirs.text }]),
    ...names(ours, theirs).flatMap((name) => compareSiblings(ours, theirs, name, path)),
  ];
}

function compareSiblings(ours: Element, theirs: Element, name: string, path: string): Difference[] {
  const [our, their] = [ours, theirs].map(({ children }) => children.filter((child) => child.name === name));
  const count = Math.max(our?.length ?? 0, their?.length ?? 0);
  return Array.from({ length: count }, (_, index) =>
    compareTrees(our?.[index], their?.[index], count > 1 ? `${path}/${name}[${index}]` : `${path}/${name}`),
  ).flat();
}

const names = (...parents: Element[]): string[] => [
  ...new Set(parents.flatMap(({ children }) => children.map(({ name }) => name))),
];

/** Differences of two flat records. */
export function compareValues(
  ours: Record<string, string | undefined>,
  theirs: Record<string, string | undefined>,
  pathOf: (key: string) => string,
): Difference[] {
  const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return keys.flatMap((key) =>
    ours[key] === theirs[key] ? [] : [{ path: pathOf(key), ours: ours[key], theirs: theirs[key] }],
  );
}

/** One line that shows an element which the other side lacks. */
function summary({ name, attributes, text, children }: Element): string {
  const inside = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${value}"`);
  return `<${name}${inside.join('')}>${text}${children.map(({ name }) => `<${name}/>`).join('')}`;
}
