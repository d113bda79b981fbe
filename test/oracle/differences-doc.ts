import { readFileSync } from 'node:fs';

/** Where each rule is told: what KubeVirt does, what virtflow does, why. */
export const DIFFERENCES_DOC = new URL('../../docs/kubevirt-differences.md', import.meta.url);

/** Ids of the rules that the document tells of: its headings of the form "### `id`". */
export const documentedRules = (markdown: string): string[] =>
  [...markdown.matchAll(/^### `([a-z0-9-]+)`/gm)].flatMap(([, id]) => id ?? []);

/** What code and document do not agree on, as sentences. */
export function drift(inCode: string[], inDocument: string[]): string[] {
  return [
    ...inCode
      .filter((id) => !inDocument.includes(id))
      .map((id) => `rule "${id}" is not told in docs/kubevirt-differences.md`),
    ...inDocument
      .filter((id) => !inCode.includes(id))
      .map((id) => `docs/kubevirt-differences.md tells of "${id}", which no rule has`),
  ];
}

export const readDocumentedRules = (): string[] => documentedRules(readFileSync(DIFFERENCES_DOC, 'utf8'));
