import { stringify } from 'yaml';
import { readDeclarations } from './declarations.ts';
import { customResourceDefinitions } from './definitions.ts';

const HEAD = "# Generated from the types' package by `npm run crds`: change deploy/crds/generator instead.\n";

/** The text of each file of deploy/crds by its name. */
export const generatedFiles = (): Map<string, string> =>
  new Map(
    [...customResourceDefinitions(readDeclarations())].map(([name, definition]) => [
      name,
      HEAD + stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false, singleQuote: true }),
    ]),
  );
