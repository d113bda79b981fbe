import ts from 'typescript';
import type { Declarations, Field, Interface } from './declarations.ts';
import { TRAITS } from './traits.ts';

/** A structural OpenAPI v3 schema, as CustomResourceDefinitions take it. */
export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  [key: string]: unknown;
}

/** Comments that the package has in place of a type of its own. */
const SCALARS: readonly (readonly [startOfComment: string, type: string])[] = [
  ['Quantity is a fixed-point', 'Quantity'],
  ['Time is a wrapper', 'Time'],
  ['Duration is a wrapper', 'Duration'],
];

/** Maps whose values are quantities, which the package calls strings. */
const QUANTITY_MAPS = new Set(['limits', 'requests', 'capacity']);

const QUANTITY: Schema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: String.raw`^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?(\d+(\.\d*)?|\.\d+))?$`,
  'x-kubernetes-int-or-string': true,
};

const BY_NAME: Record<string, Schema> = {
  Quantity: QUANTITY,
  // Programs in Go write a time that is not set as null.
  Time: { type: 'string', format: 'date-time', nullable: true },
  Duration: { type: 'string' },
  IntOrString: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
};

const KEYWORDS = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.StringKeyword, 'string'],
  [ts.SyntaxKind.NumberKeyword, 'integer'],
  [ts.SyntaxKind.BooleanKeyword, 'boolean'],
  [ts.SyntaxKind.ObjectKeyword, 'object'],
]);

const LONGEST_DESCRIPTION = 200;

/**
 * The schema of objects of a type: an interface of the package with all that it is made of. Metadata of the object itself is the API server's.
 * @throws Error for a type that it cannot express
 */
export function objectSchema(root: string, declarations: Declarations): Schema {
  const { doc, fields } = interfaceOf(root, declarations);
  const schema = ofFields(root, fields, declarations, doc);
  return { ...schema, properties: { ...schema.properties, metadata: { type: 'object' } } };
}

/** Traits of fields that there are not: the package has renamed or dropped them. */
export const staleTraits = (declarations: Declarations): string[] =>
  Object.keys(TRAITS).filter((key) => {
    const [owner = '', name] = key.split('.');
    const fields = declarations.get(owner)?.fields;
    return fields === undefined || (name !== undefined && !fields.some((field) => field.name === name));
  });

/** The schema without descriptions: to serve the same fields by a deprecated name. */
export function withoutDescriptions({
  description: _,
  properties,
  items,
  additionalProperties,
  ...rest
}: Schema): Schema {
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, withoutDescriptions(field)]);
  return {
    ...rest,
    ...(properties ? { properties: Object.fromEntries(fields) as Record<string, Schema> } : {}),
    ...(items ? { items: withoutDescriptions(items) } : {}),
    ...(additionalProperties ? { additionalProperties: withoutDescriptions(additionalProperties) } : {}),
  };
}

const interfaceOf = (name: string, declarations: Declarations): Interface => {
  const found = declarations.get(name);
  if (found === undefined) throw new Error(`The types' package has no interface ${name}.`);
  return found;
};

function ofFields(owner: string, fields: Field[], declarations: Declarations, doc: string): Schema {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const inOrder = [...fields].sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    ...described(doc),
    type: 'object',
    ...(required.length > 0 ? { required: required.sort() } : {}),
    properties: Object.fromEntries(inOrder.map((field) => [field.name, ofField(owner, field, declarations)])),
    ...TRAITS[owner],
  };
}

function ofField(owner: string, { name, doc, type }: Field, declarations: Declarations): Schema {
  const trait = TRAITS[`${owner}.${name}`];
  if (trait?.type !== undefined) return { ...described(doc), ...trait };
  const scalar = SCALARS.find(([start]) => doc.startsWith(start))?.[1];
  const schema = scalar === undefined ? ofType(type, name, declarations) : { ...BY_NAME[scalar] };
  return { ...schema, ...described(scalar === undefined ? doc : ''), ...trait };
}

function ofType(type: ts.TypeNode, field: string, declarations: Declarations): Schema {
  const again = (part: ts.TypeNode): Schema => ofType(part, field, declarations);
  const simple = KEYWORDS.get(type.kind);
  if (simple !== undefined) return { type: simple };
  if (ts.isTypeLiteralNode(type)) {
    const [index] = type.members.filter(ts.isIndexSignatureDeclaration);
    if (index === undefined) throw new Error(`Field ${field} has a type without a name: ${type.getText()}`);
    return { type: 'object', additionalProperties: QUANTITY_MAPS.has(field) ? QUANTITY : again(index.type) };
  }
  if (!ts.isTypeReferenceNode(type)) throw new Error(`Field ${field} has an unknown type: ${type.getText()}`);
  const name = type.typeName.getText();
  const [item] = type.typeArguments ?? [];
  if (name === 'Array' && item !== undefined) return { type: 'array', items: again(item) };
  if (BY_NAME[name] !== undefined) return { ...BY_NAME[name] };
  // Lists of allowed words stay words: admission tells all that is wrong with an object at once, the API server only what its schema says.
  if (name.endsWith('Enum')) return { type: 'string' };
  const { doc, fields } = interfaceOf(name, declarations);
  return ofFields(name, fields, declarations, doc);
}

/** The first sentence. */
function described(doc: string): { description?: string } {
  const [sentence = ''] = doc.split(/(?<!\b(?:e\.g|i\.e|etc|vs))[.:](?=\s+[A-Z-]|$)/, 1);
  const text = sentence.trim();
  if (text === '') return {};
  if (text.length <= LONGEST_DESCRIPTION) return { description: text };
  return { description: `${text.slice(0, text.lastIndexOf(' ', LONGEST_DESCRIPTION))} …` };
}
