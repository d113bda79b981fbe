import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  apiGroup,
  apiGroups,
  apiResources,
  openApiV2,
  openApiV3,
  openApiV3Of,
  rootPaths,
} from '../../../../api/subresources/discovery.ts';
import { readManifest } from '../../../../api/subresources/expand.ts';
import { routeOf } from '../../../../api/subresources/route.ts';
import { RELEASE, serverVersion } from '../../../../api/subresources/version.ts';

test('the group names its versions, the preferred one first', () => {
  const versions = [
    { groupVersion: 'subresources.kubevirt.io/v1', version: 'v1' },
    { groupVersion: 'subresources.kubevirt.io/v1alpha3', version: 'v1alpha3' },
  ];
  const group = { kind: 'APIGroup', name: 'subresources.kubevirt.io', versions, preferredVersion: versions[0] };
  expect(apiGroup()).toMatchObject(group);
  expect(apiGroups()).toMatchObject({ kind: 'APIGroupList', groups: [group] });
});

test('resources are named with the verbs that authorization asks for', () => {
  const { resources, groupVersion } = apiResources('v1alpha3') as {
    groupVersion: string;
    resources: { name: string; namespaced: boolean; verbs: string[] }[];
  };
  expect(groupVersion).toBe('subresources.kubevirt.io/v1alpha3');
  const verbs = new Map(resources.map(({ name, verbs: [verb] }) => [name, verb]));
  expect(verbs.get('virtualmachines/start')).toBe('update');
  expect(verbs.get('virtualmachineinstances/evacuate/cancel')).toBe('update');
  expect(verbs.get('virtualmachineinstances/console')).toBe('get');
  expect(verbs.get('virtualmachines/portforward')).toBe('get');
  expect(verbs.has('expand-vm-spec')).toBe(true);
  expect(resources.every(({ namespaced }) => namespaced)).toBe(true);
});

test('every path that the documents name is served, with the method that they name', () => {
  const { paths } = openApiV2() as { paths: Record<string, Record<string, unknown>> };
  const served = Object.entries(paths).map(([path, item]) => {
    const method = 'put' in item ? 'PUT' : 'GET';
    return routeOf(method, path.replace('{port}', '22').replaceAll(/[{}]/g, '')).kind;
  });
  expect(served.length).toBeGreaterThan(40);
  expect(served).not.toContain('refused');
  for (const path of (rootPaths() as { paths: string[] }).paths) expect(routeOf('GET', path).kind).not.toBe('refused');
});

test('operations have ids of their own', () => {
  const { paths } = openApiV2() as { paths: Record<string, Record<string, { operationId?: string }>> };
  const ids = Object.values(paths).map((item) => (item['put'] ?? item['get'])?.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the index of OpenAPI 3 leads to a document per version', () => {
  const { paths } = openApiV3() as { paths: Record<string, { serverRelativeURL: string }> };
  const urls = Object.values(paths).map(({ serverRelativeURL }) => serverRelativeURL.split('?')[0] ?? '');
  expect(urls.map((url) => routeOf('GET', url))).toMatchObject([{ version: 'v1' }, { version: 'v1alpha3' }]);
  expect(openApiV3Of('v1')).toMatchObject({ openapi: '3.0.0', info: { version: RELEASE } });
});

test('the release is that of the package', async () => {
  const manifest = await readFile(join(import.meta.dirname, '../../../../package.json'), 'utf8');
  expect(JSON.parse(manifest)).toMatchObject({ version: RELEASE });
});

test('the version is that of KubeVirt’s API, which virtctl compares with its own', () => {
  expect(serverVersion('linux/x64', 'node v24')).toMatchObject({ gitVersion: `v1.8.0+virtflow.${RELEASE}` });
});

const spec = { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } };

test.each`
  manifest                                                   | then
  ${{ metadata: { name: 'web' }, spec }}                     | ${200}
  ${{ metadata: { name: 'web', namespace: 'team' }, spec }}  | ${200}
  ${{ metadata: { name: 'web', namespace: 'other' }, spec }} | ${400}
  ${undefined}                                               | ${400}
  ${'web'}                                                   | ${400}
  ${{ metadata: { name: 'web' } }}                           | ${400}
  ${{ spec: { ...spec, runStrategy: 7 } }}                   | ${400}
`('a manifest to expand, $manifest: $then', ({ manifest, then }) => {
  const read = readManifest(manifest, 'team');
  expect(read.refusal?.code ?? 200).toBe(then);
  if (read.refusal === undefined) expect(read.vm.metadata?.namespace).toBe('team');
});
