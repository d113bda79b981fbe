import type { Declarations } from './declarations.ts';
import { objectSchema, withoutDescriptions, type Schema } from './schema.ts';

interface Column {
  name: string;
  type: 'string' | 'integer' | 'date';
  jsonPath: string;
  description?: string;
  /** 1: shown by `-o wide` only. */
  priority?: number;
}

/** One kind, with the names and columns that KubeVirt's users know. */
interface Definition {
  kind: string;
  plural: string;
  shortNames?: string[];
  /** Interface of the types' package. */
  root: string;
  group?: string;
  version?: string;
  clusterScoped?: boolean;
  /** The version before, served with the same fields and a warning. */
  deprecatedVersion?: string;
  subresources?: object;
  columns?: Column[];
}

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const PHASE: Column = { name: 'Phase', type: 'string', jsonPath: '.status.phase' };
const conditionColumn = (name: string, type = name): Column => ({
  ...{ name, type: 'string', jsonPath: `.status.conditions[?(@.type=='${type}')].status` },
});

const DEFINITIONS: Definition[] = [
  {
    kind: 'VirtualMachine',
    plural: 'virtualmachines',
    shortNames: ['vm', 'vms'],
    root: 'V1VirtualMachine',
    deprecatedVersion: 'v1alpha3',
    subresources: { status: {} },
    columns: [
      AGE,
      { name: 'Status', type: 'string', jsonPath: '.status.printableStatus', description: 'Human Readable Status' },
      conditionColumn('Ready'),
    ],
  },
  {
    kind: 'VirtualMachineInstance',
    plural: 'virtualmachineinstances',
    shortNames: ['vmi', 'vmis'],
    root: 'V1VirtualMachineInstance',
    deprecatedVersion: 'v1alpha3',
    columns: [
      AGE,
      PHASE,
      { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
      { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
      conditionColumn('Ready'),
      { ...conditionColumn('Live-Migratable', 'LiveMigratable'), priority: 1 },
      { ...conditionColumn('Paused'), priority: 1 },
    ],
  },
  {
    kind: 'VirtualMachineInstanceMigration',
    plural: 'virtualmachineinstancemigrations',
    shortNames: ['vmim', 'vmims'],
    root: 'V1VirtualMachineInstanceMigration',
    deprecatedVersion: 'v1alpha3',
    subresources: { status: {} },
    columns: [
      { ...PHASE, description: 'The current phase of VM instance migration' },
      {
        name: 'VMI',
        type: 'string',
        jsonPath: '.spec.vmiName',
        description: 'The name of the VMI to perform the migration on',
      },
    ],
  },
  {
    kind: 'VirtualMachineInstanceReplicaSet',
    plural: 'virtualmachineinstancereplicasets',
    shortNames: ['vmirs', 'vmirss'],
    root: 'V1VirtualMachineInstanceReplicaSet',
    deprecatedVersion: 'v1alpha3',
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.labelSelector',
      },
    },
    columns: [
      {
        ...{ name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
        description: 'How many VirtualMachineInstances there shall be',
      },
      {
        ...{ name: 'Current', type: 'integer', jsonPath: '.status.replicas' },
        description: 'How many VirtualMachineInstances there are that are neither over nor being deleted',
      },
      {
        ...{ name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
        description: 'How many of them take traffic',
      },
      AGE,
    ],
  },
  {
    kind: 'KubeVirt',
    plural: 'kubevirts',
    shortNames: ['kv', 'kvs'],
    root: 'V1KubeVirt',
    deprecatedVersion: 'v1alpha3',
    subresources: { status: {} },
    columns: [AGE, PHASE],
  },
  {
    kind: 'MigrationPolicy',
    plural: 'migrationpolicies',
    root: 'V1alpha1MigrationPolicy',
    group: 'migrations.kubevirt.io',
    version: 'v1alpha1',
    clusterScoped: true,
    subresources: { status: {} },
  },
  instanceType('VirtualMachineInstancetype', ['vminstancetype', 'vminstancetypes', 'vmf', 'vmfs']),
  instanceType('VirtualMachineClusterInstancetype', [
    'vmclusterinstancetype',
    'vmclusterinstancetypes',
    'vmcf',
    'vmcfs',
  ]),
  instanceType('VirtualMachinePreference', ['vmpref', 'vmprefs', 'vmp', 'vmps']),
  instanceType('VirtualMachineClusterPreference', ['vmcp', 'vmcps']),
];

function instanceType(kind: string, shortNames: string[]): Definition {
  return {
    ...{ kind, plural: `${kind.toLowerCase()}s`, shortNames, root: `V1beta1${kind}` },
    ...{ group: 'instancetype.kubevirt.io', version: 'v1beta1', clusterScoped: kind.includes('Cluster') },
  };
}

/** All CustomResourceDefinitions, by the name of their file. */
export const customResourceDefinitions = (declarations: Declarations): Map<string, object> =>
  new Map(
    DEFINITIONS.map((definition) => [
      `${definition.plural}.yaml`,
      customResourceDefinition(definition, objectSchema(definition.root, declarations)),
    ]),
  );

function customResourceDefinition(definition: Definition, schema: Schema): object {
  const { kind, plural, shortNames, group = 'kubevirt.io', version = 'v1', deprecatedVersion } = definition;
  const { subresources, columns: additionalPrinterColumns } = definition;
  const serve = (openAPIV3Schema: Schema): object => ({
    ...(subresources ? { subresources } : {}),
    ...(additionalPrinterColumns ? { additionalPrinterColumns } : {}),
    schema: { openAPIV3Schema },
  });
  const singular = kind.toLowerCase();
  const deprecated = {
    ...{ name: deprecatedVersion, served: true, storage: false, deprecated: true },
    deprecationWarning: `${group}/${deprecatedVersion} is now deprecated and will be removed in a future release.`,
    ...serve(withoutDescriptions(schema)),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'virtflow' } },
    spec: {
      group,
      scope: definition.clusterScoped ? 'Cluster' : 'Namespaced',
      names: {
        ...{ kind, listKind: `${kind}List`, plural, singular },
        ...(shortNames ? { shortNames } : {}),
        ...(definition.clusterScoped ? {} : { categories: ['all'] }),
      },
      versions: [
        { name: version, served: true, storage: true, ...serve(schema) },
        ...(deprecatedVersion === undefined ? [] : [deprecated]),
      ],
    },
  };
}
