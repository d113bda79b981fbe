import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readDeclarations } from '../../../../deploy/crds/generator/declarations.ts';
import { customResourceDefinitions } from '../../../../deploy/crds/generator/definitions.ts';
import { generatedFiles } from '../../../../deploy/crds/generator/files.ts';
import { staleTraits, type Schema } from '../../../../deploy/crds/generator/schema.ts';

const FOLDER = join(import.meta.dirname, '../../../../deploy/crds');
/** What an annotation can hold: `kubectl apply` keeps the whole object in one. */
const ANNOTATION_BYTES = 262_144;

interface Version {
  name: string;
  schema: { openAPIV3Schema: Schema };
}

const definitions = customResourceDefinitions(readDeclarations());
const versionsOf = (plural: string): Version[] =>
  (definitions.get(`${plural}.yaml`) as { spec: { versions: Version[] } }).spec.versions;
const rootOf = (plural: string, index = 0): Schema => versionsOf(plural)[index]?.schema.openAPIV3Schema ?? {};

/** The schema at "spec.volumes[].name"; `[]` stands for the items of a list, `{}` for the values of a map. */
const at = (plural: string, path: string): Schema | undefined =>
  path
    .replaceAll('[]', '.[]')
    .replaceAll('{}', '.{}')
    .split('.')
    .reduce<Schema | undefined>((schema, step) => {
      if (step === '[]') return schema?.items;
      return step === '{}' ? schema?.additionalProperties : schema?.properties?.[step];
    }, rootOf(plural));

const everySchema = (schema: Schema): Schema[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(everySchema),
  ...[schema.items, schema.additionalProperties].flatMap((inner) => (inner ? everySchema(inner) : [])),
];

test('the committed definitions are what the generator makes of the types: else run `npm run crds`', () => {
  for (const [name, text] of generatedFiles()) expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(text);
});

test('whatever is said of a field beyond its type is said of one that there is', () => {
  expect(staleTraits(readDeclarations())).toEqual([]);
  expect(staleTraits(new Map()).length).toBeGreaterThan(0);
});

test('every definition is part of what is installed, and nothing else is', () => {
  const { resources } = parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
  expect([...resources].sort()).toEqual([...definitions.keys()].sort());
  expect(files.sort()).toEqual([...definitions.keys()].sort());
});

describe.each([...definitions.keys()].map((name) => name.replace('.yaml', '')))('%s', (plural) => {
  test('fits into what kubectl apply keeps of it', () => {
    expect(Buffer.byteLength(JSON.stringify(definitions.get(`${plural}.yaml`)))).toBeLessThan(ANNOTATION_BYTES * 0.9);
  });

  test('every field has one type, lists have items, and objects drop what they do not know', () => {
    for (const schema of everySchema(rootOf(plural))) {
      const { type, items, 'x-kubernetes-int-or-string': either } = schema;
      expect(either === true || typeof type === 'string').toBe(true);
      if (type === 'array') expect(items).toBeDefined();
      if (schema.properties) expect(schema['x-kubernetes-preserve-unknown-fields']).toBeUndefined();
    }
  });

  test('an older version has the same fields', () => {
    const [newest, ...older] = versionsOf(plural).map(({ schema }) => structuredClone(schema.openAPIV3Schema));
    const bare = (schema: Schema): unknown =>
      JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === 'description' ? undefined : value)));
    for (const schema of older) expect(bare(schema)).toEqual(bare(newest ?? {}));
  });
});

const VMI = 'virtualmachineinstances';
test.each([
  ['memory takes numbers and texts', VMI, 'spec.domain.memory.guest', { 'x-kubernetes-int-or-string': true }],
  ['so do requests', VMI, 'spec.domain.resources.requests{}', { 'x-kubernetes-int-or-string': true }],
  ['so do ports of probes', VMI, 'spec.readinessProbe.httpGet.port', { 'x-kubernetes-int-or-string': true }],
  ['counts are whole', VMI, 'spec.domain.cpu.cores', { type: 'integer' }],
  ['labels of a selector are texts', VMI, 'spec.nodeSelector{}', { type: 'string' }],
  ['a structure without members takes none', VMI, 'spec.domain.devices.rng', { type: 'object' }],
  ['a time may be null', VMI, 'status.conditions[].lastTransitionTime', { format: 'date-time', nullable: true }],
  ['names that the types spell otherwise', VMI, 'status.VSOCKCID', { type: 'integer' }],
  ['names that begin with a word of TypeScript', VMI, 'spec.networks[].multus.default', { type: 'boolean' }],
  ['fields younger than the types', VMI, 'spec.domain.devices.interfaces[].portRanges[].start', { type: 'integer' }],
  ['words are left to admission', VMI, 'spec.dnsPolicy', { type: 'string' }],
  [
    'lists that merge by a key',
    VMI,
    'spec.topologySpreadConstraints',
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['topologyKey', 'whenUnsatisfiable'] },
  ],
  [
    'metadata of a template is kept whole',
    'virtualmachines',
    'spec.template.metadata',
    { type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'settings that a policy overrides',
    'migrationpolicies',
    'spec.maxDowntimeMs',
    { type: 'integer', maximum: 2_000_000 },
  ],
  ['a percentage', 'virtualmachineinstancetypes', 'spec.memory.overcommitPercent', { minimum: 0, maximum: 100 }],
  ['a preference younger than the types', 'virtualmachineclusterpreferences', 'spec.preferredLaunchSecurity.tdx', {}],
  ['settings of the cluster', 'kubevirts', 'spec.configuration.migrations.maxDowntimeMs', { type: 'integer' }],
])('%s', (_, plural, path, expected) => {
  expect(at(plural, path)).toMatchObject(expected);
});

test('a description is one sentence of the types, and short', () => {
  expect(at(VMI, 'spec.evictionStrategy')?.description).toBe(
    'EvictionStrategy describes the strategy to follow when a node drain occurs',
  );
  for (const { description = '' } of everySchema(rootOf(VMI))) expect(description.length).toBeLessThanOrEqual(202);
});
