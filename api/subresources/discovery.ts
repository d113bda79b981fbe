import {
  CLUSTER_WIDE,
  INSTANCE,
  STREAMS,
  SUBRESOURCES_GROUP,
  SUBRESOURCES_VERSIONS,
  VIRTUAL_MACHINE,
} from './catalogue.ts';
import { RELEASE } from './version.ts';
import type { Method } from './catalogue.ts';

const GROUP_VERSIONS = SUBRESOURCES_VERSIONS.map((version) => ({
  groupVersion: `${SUBRESOURCES_GROUP}/${version}`,
  version,
}));

/** metav1.RootPaths */
export const rootPaths = (): object => ({
  paths: [
    ...['/apis', `/apis/${SUBRESOURCES_GROUP}`, ...GROUP_VERSIONS.map(({ groupVersion }) => `/apis/${groupVersion}`)],
    ...['/healthz', '/openapi/v2', '/openapi/v3'],
  ],
});

/** metav1.APIGroup; virtctl looks here for the version that it asks for the server's version. */
export const apiGroup = (): object => ({
  ...{ kind: 'APIGroup', apiVersion: 'v1' },
  name: SUBRESOURCES_GROUP,
  versions: GROUP_VERSIONS,
  preferredVersion: GROUP_VERSIONS[0],
});

/** metav1.APIGroupList */
export const apiGroups = (): object => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: [apiGroup()] });

/** Every subresource of VMs and instances with the method that it takes. */
const SUBRESOURCES: readonly { resource: string; kind: string; subresource: string; method: Method }[] = [
  { resource: 'virtualmachines', kind: 'VirtualMachine', questions: VIRTUAL_MACHINE },
  { resource: 'virtualmachineinstances', kind: 'VirtualMachineInstance', questions: INSTANCE },
].flatMap(({ resource, kind, questions }) => [
  ...Object.entries(questions).map(([subresource, method]) => ({ resource, kind, subresource, method })),
  ...STREAMS[resource as keyof typeof STREAMS].map((subresource) => ({
    ...{ resource, kind, subresource, method: 'GET' as const },
  })),
]);

/** metav1.APIResourceList: the aggregator, kubectl and the garbage collector read it. */
export const apiResources = (version: string): object => ({
  ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${SUBRESOURCES_GROUP}/${version}` },
  resources: [
    // Without verbs, so that `kubectl api-resources` does not show it as a kind of objects.
    { name: 'expand-vm-spec', singularName: '', namespaced: true, kind: '', verbs: [] },
    ...SUBRESOURCES.map(({ resource, kind, subresource, method }) => ({
      name: `${resource}/${subresource}`,
      ...{ singularName: '', namespaced: true, kind },
      verbs: [method === 'PUT' ? 'update' : 'get'],
    })),
  ],
});

const TITLE = 'virtflow: actions on virtual machines';

/** Paths below a version with the method of each. */
const OPERATIONS: readonly { path: string; method: Method }[] = [
  ...CLUSTER_WIDE.map((name) => ({ path: `/${name}`, method: 'GET' as const })),
  { path: '/namespaces/{namespace}/expand-vm-spec', method: 'PUT' },
  ...SUBRESOURCES.map(({ resource, subresource, method }) => ({
    path: `/namespaces/{namespace}/${resource}/{name}/${subresource}${subresource === 'portforward' ? '/{port}' : ''}`,
    method,
  })),
];

type Parameter = (name: string) => object;

const pathsOf = (version: string, parameter: Parameter): Record<string, object> =>
  Object.fromEntries(
    OPERATIONS.map(({ path, method }) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const id = `${version}${path.replace(/[^a-z]+(\w)/gi, (_, letter: string) => letter.toUpperCase())}`;
      const operation = {
        operationId: id.replace(/\W/g, ''),
        responses: { '200': { description: 'OK' }, '401': { description: 'Unauthorized' } },
      };
      return [
        `/apis/${SUBRESOURCES_GROUP}/${version}${path}`,
        { [method.toLowerCase()]: operation, ...(names.length === 0 ? {} : { parameters: names.map(parameter) }) },
      ];
    }),
  );

/** OpenAPI 2 of all versions, for kube-apiserver to merge into its own. */
export const openApiV2 = (): object => ({
  swagger: '2.0',
  info: { title: TITLE, version: RELEASE },
  paths: Object.assign(
    {},
    ...SUBRESOURCES_VERSIONS.map((version) =>
      pathsOf(version, (name) => ({ name, in: 'path', required: true, type: 'string', uniqueItems: true })),
    ),
  ) as object,
  definitions: {},
});

/** Where the OpenAPI 3 document of each version is. */
export const openApiV3 = (): object => ({
  paths: Object.fromEntries(
    GROUP_VERSIONS.map(({ groupVersion }) => [
      `apis/${groupVersion}`,
      { serverRelativeURL: `/openapi/v3/apis/${groupVersion}?hash=${RELEASE}` },
    ]),
  ),
});

/** OpenAPI 3 of one version. */
export const openApiV3Of = (version: string): object => ({
  openapi: '3.0.0',
  info: { title: TITLE, version: RELEASE },
  paths: pathsOf(version, (name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  components: {},
});
