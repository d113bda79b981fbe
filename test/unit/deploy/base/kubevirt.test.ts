import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { effectiveConfiguration } from '../../../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../../../api/kubevirt/types.ts';
import { withDomain } from '../../../support/instances.ts';
import { render, specOf } from '../../activities/controller/launch-manifest/render.ts';

const read = async (file: string): Promise<string> => readFile(new URL(`../../../../${file}`, import.meta.url), 'utf8');

test('beside a guest of the shipped configuration no helper container starts within a CPU limit', async () => {
  const config = effectiveConfiguration(parse(await read('deploy/base/kubevirt.yaml')) as KubeVirt);
  const kernelBoot = { container: { image: 'r.test/k:1', kernelPath: '/k' } };
  const { containers, initContainers = [] } = specOf(render(withDomain({ firmware: { kernelBoot } }), { config }));
  const all = [...containers, ...initContainers];
  expect(all.map(({ name }) => name)).toEqual(['compute', 'guest-console-log', 'volumekernel-boot-volume']);
  for (const { resources } of all) expect(resources?.limits).not.toHaveProperty('cpu');
});

test('a start with the shipped configuration waits for no container that ends, where images are held by containers', async () => {
  const config = effectiveConfiguration(parse(await read('deploy/base/kubevirt.yaml')) as KubeVirt);
  const kernelBoot = { container: { image: 'r.test/k:1', kernelPath: '/k' } };
  const { initContainers = [] } = specOf(
    render(withDomain({ firmware: { kernelBoot } }), { config: { ...config, featureGates: [] } }),
  );
  expect(initContainers.filter(({ restartPolicy }) => restartPolicy !== 'Always')).toEqual([]);
});

test('what the installation’s page says to put into a KubeVirt object of one’s own is what the shipped one has', async () => {
  const page = await read('docs/installing.md');
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block);
  const said = blocks.find((block) => block.includes('supportContainerResources')) ?? '';
  expect(startOf(said)).toEqual(startOf(await read('deploy/base/kubevirt.yaml')));
});

const startOf = (text: string): unknown => {
  const { supportContainers, skipImageInitContainers } = effectiveConfiguration(parse(text) as KubeVirt);
  return { supportContainers, skipImageInitContainers };
};
