import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

/** The interfaces of KubeVirt's API by name: of the types' package, with what newer-fields.ts adds. */
export type Declarations = ReadonlyMap<string, Interface>;

export interface Interface {
  /** What it is, in the package's words; may be empty. */
  doc: string;
  fields: Field[];
}

export interface Field {
  /** As it stands in JSON. */
  name: string;
  doc: string;
  required: boolean;
  type: ts.TypeNode;
}

/** Names that the package spells otherwise than the API; a leading underscore is always the package's. */
const SPELLING = new Map([['vSOCKCID', 'VSOCKCID']]);

/** Reads all declarations. Fields of newer-fields.ts go over those of the package. */
export function readDeclarations(): Declarations {
  const manifest = createRequire(import.meta.url).resolve('@kubevirt-ui-ext/kubevirt-api/kubevirt');
  const files = [join(manifest, '../index.d.ts'), join(import.meta.dirname, 'newer-fields.ts')];
  const declarations = new Map<string, Interface>();
  for (const [name, read] of files.flatMap(interfacesOf)) {
    const known = declarations.get(name);
    const fields = [...(known?.fields ?? []).filter((old) => !read.fields.some((field) => field.name === old.name))];
    declarations.set(name, { doc: read.doc || (known?.doc ?? ''), fields: [...fields, ...read.fields] });
  }
  return declarations;
}

function interfacesOf(file: string): [string, Interface][] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .map((declaration) => [
      declaration.name.text,
      { doc: docOf(declaration), fields: declaration.members.filter(ts.isPropertySignature).flatMap(fieldOf) },
    ]);
}

const fieldOf = (member: ts.PropertySignature): Field[] =>
  member.type === undefined
    ? []
    : [{ name: nameOf(member), doc: docOf(member), required: !member.questionToken, type: member.type }];

const nameOf = (member: ts.PropertySignature): string => {
  const name = member.name.getText();
  return SPELLING.get(name) ?? name.replace(/^_/, '');
};

/** The comment without its tags, on one line. */
const docOf = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
