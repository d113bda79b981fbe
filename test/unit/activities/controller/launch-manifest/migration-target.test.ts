import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import {
  podName,
  renderTargetManifest,
  withImagesOf,
} from '../../../../../activities/controller/launch-manifest/index.ts';
import type { TargetInput } from '../../../../../activities/controller/launch-manifest/index.ts';
import { launchNote } from '../../../../../activities/facts/launch-notes.ts';
import { configured, instance, withDomain } from '../../../../support/instances.ts';
import { launch, render, specOf } from './render.ts';

const migration = { name: 'move-1', uid: '5f6d1d4e-0000-4000-8000-000000000001' };
const purpose = { migration };
const from = (more: Partial<TargetInput> = {}): TargetInput => ({
  sourcePod: { spec: { containers: [] } },
  sourceNode: { metadata: { labels: {} } },
  ...more,
});
const target = (vmi: VirtualMachineInstance, more: Partial<TargetInput> = {}, config = configured()): Pod =>
  renderTargetManifest(launch(vmi, { purpose, config }), from(more));

test("it is the start's Pod but for its name, what it says of the migration, and where it may go", () => {
  const [ours, start] = [target(instance()), render(instance())];
  expect(ours.metadata?.name).toBe(podName(instance(), purpose));
  expect(ours.metadata?.name).not.toBe(start.metadata?.name);
  expect(ours.metadata?.labels).toEqual({ ...start.metadata?.labels, 'kubevirt.io/migrationJobUID': migration.uid });
  expect(ours.metadata?.annotations).toEqual({
    ...start.metadata?.annotations,
    'kubevirt.io/migrationJobName': 'move-1',
  });
  const rest = ({ spec }: Pod): object => ({
    ...spec,
    affinity: undefined,
    containers: spec?.containers.map((container) => ({ ...container, env: undefined })),
  });
  expect(rest(ours)).toEqual(rest(start));
});

test('each Pod notes what it was made for, where nobody can change it', () => {
  const notes = (pod: Pod): unknown[] =>
    (['attempt', 'epoch', 'postCopy'] as const).map((note) => launchNote(pod, note));
  expect(notes(render(instance()))).toEqual(['1', '7', undefined]);
  expect(notes(target(instance()))).toEqual([undefined, '7', 'false']);
  expect(notes(target(instance(), {}, configured({ migrations: { allowPostCopy: true } })))).toEqual([
    ...[undefined, '7', 'true'],
  ]);
});

test('one migration gives one name, another migration another', () => {
  expect(podName(instance(), purpose)).toBe(podName(instance(), { migration: { ...migration, name: 'x' } }));
  expect(podName(instance(), purpose)).not.toBe(podName(instance(), { migration: { ...migration, uid: 'x' } }));
});

test('it never goes where a launcher Pod of the VMI is, besides what the VMI itself wants', () => {
  const preferred = [{ weight: 1, podAffinityTerm: { topologyKey: 'zone' } }];
  const other = { topologyKey: 'rack' };
  const affinity = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: [other],
    },
  };
  const vmi = withDomain({ cpu: { model: 'Haswell' } }, { affinity });
  expect(specOf(target(vmi)).affinity).toEqual({
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: [
        other,
        {
          labelSelector: { matchLabels: { 'kubevirt.io/created-by': vmi.metadata?.uid } },
          topologyKey: 'kubernetes.io/hostname',
        },
      ],
    },
  });
});

describe('node labels', () => {
  const nodeLabels = {
    'host-model-cpu.node.kubevirt.io/Skylake': 'true',
    'host-model-required-features.node.kubevirt.io/vmx': 'true',
    'cpu-model.node.kubevirt.io/Penryn': 'true',
    'cpu-feature.node.kubevirt.io/aes': 'true',
    'cpu-vendor.node.kubevirt.io/Intel': 'true',
  };
  const sourceNode = { metadata: { labels: nodeLabels } };
  const moved: TargetInput['sourcePod'] = {
    spec: {
      containers: [],
      nodeSelector: {
        'cpu-model-migration.node.kubevirt.io/Haswell': 'true',
        'cpu-feature.node.kubevirt.io/pcid': 'true',
        rack: 'r1',
      },
    },
  };
  const selected = (model: string | undefined, more: Partial<TargetInput>): string[] =>
    Object.keys(specOf(target(withDomain(model === undefined ? {} : { cpu: { model } }), more)).nodeSelector ?? {})
      .filter((key) => key.startsWith('cpu-'))
      .sort();
  const vendor = 'cpu-vendor.node.kubevirt.io/Intel';
  const ofTheNode = ['cpu-feature.node.kubevirt.io/vmx', 'cpu-model-migration.node.kubevirt.io/Skylake', vendor];

  test.each<[string, string | undefined, Partial<TargetInput>, string[]]>([
    ["the host's model: what the source's node says", 'host-model', { sourceNode }, ofTheNode],
    ['no model is the same', undefined, { sourceNode }, ofTheNode],
    [
      'moved before: what the Pod was given then',
      'host-model',
      { sourceNode, sourcePod: moved },
      ['cpu-feature.node.kubevirt.io/pcid', 'cpu-model-migration.node.kubevirt.io/Haswell', vendor],
    ],
    ['a named model is everywhere the same', 'Penryn', { sourceNode }, ['cpu-model.node.kubevirt.io/Penryn', vendor]],
    ['the vendor counts with every model', 'host-passthrough', { sourceNode }, [vendor]],
    ['a node that tells nothing asks for nothing', 'host-model', {}, []],
  ])('%s', (_, model, more, expected) => {
    expect(selected(model, more)).toEqual(expected);
  });

  test("what the migration adds counts unless the VMI's own template says otherwise", () => {
    const vmi = instance({ nodeSelector: { disk: 'ssd' } });
    const { nodeSelector } = specOf(target(vmi, { addedNodeSelector: { disk: 'nvme', rack: 'r3' } }));
    expect(nodeSelector).toMatchObject({ disk: 'ssd', rack: 'r3' });
  });
});

describe('SELinux level', () => {
  const labelled: TargetInput['sourcePod'] = {
    spec: { containers: [], securityContext: { seLinuxOptions: { level: 's0:c1,c2' } } },
  };
  const level = (selinuxContext: string | undefined, more: Partial<TargetInput>, config = configured()) => {
    const vmi = instance();
    if (selinuxContext !== undefined) vmi.status = { selinuxContext };
    return specOf(target(vmi, more, config)).securityContext?.seLinuxOptions;
  };

  test.each<[string, string | undefined, Partial<TargetInput>, string | undefined]>([
    ['as the VMI says', 'system_u:system_r:container_t:s0:c12,c777', { sourcePod: labelled }, 's0:c12,c777'],
    ['else as the source Pod was given it', undefined, { sourcePod: labelled }, 's0:c1,c2'],
    ['no SELinux, no level', 'none', {}, undefined],
  ])('%s', (_, context, more, expected) => {
    expect(level(context, more)?.level).toBe(expected);
  });

  test('not where the cluster does not want it; the type stays', () => {
    const never = configured({ migrations: { matchSELinuxLevelOnMigration: false } });
    expect(level('a:b:c:s0:c1', {}, never)).toBeUndefined();
    expect(level('a:b:c:s0:c1', {}, configured({ selinuxLauncherType: 'virt' }))).toEqual({
      type: 'virt',
      level: 's0:c1',
    });
  });
});

describe('images', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const running = (name: string, imageID: string): Pick<Pod, 'status'> => ({
    status: {
      containerStatuses: [
        { name: 'compute', image: '', imageID: 'other@sha256:0', ready: true, restartCount: 0 },
        { name, image: '', imageID, ready: true, restartCount: 0 },
      ],
    },
  });
  const withDisk = (image: string) =>
    instance({
      volumes: [
        { name: 'os', containerDisk: { image } },
        { name: 'x', emptyDisk: { capacity: '1Gi' } },
      ],
    });
  const diskOf = (vmi: VirtualMachineInstance) => vmi.spec.volumes?.[0]?.containerDisk?.image;

  test.each([
    ['with a tag', 'r.test:5000/os/a:1', `r.test:5000/os/a@${digest}`, `r.test:5000/os/a@${digest}`],
    ['without a tag', 'r.test:5000/os/a', `r.test:5000/os/a@${digest}`, `r.test:5000/os/a@${digest}`],
    ['with an older digest', 'r.test/a@sha256:0', `mirror/a@${digest}`, `r.test/a@${digest}`],
    ['that no registry gave', 'r.test/a:1', digest, 'r.test/a:1'],
    ['of a container without status', 'r.test/a:1', '', 'r.test/a:1'],
  ])('an image %s', (_, image, imageID, expected) => {
    expect(diskOf(withImagesOf(withDisk(image), running('volumeos', imageID)))).toBe(expected);
  });

  test('of a mounted image the init container that pulled it tells the digest', () => {
    const { status } = running('volumeos', `r.test/a@${digest}`);
    const mounting: Pick<Pod, 'spec' | 'status'> = {
      spec: { containers: [], volumes: [{ name: 'os', image: { reference: 'r.test/a:1' } }] },
      status: { initContainerStatuses: status?.containerStatuses ?? [] },
    };
    expect(diskOf(withImagesOf(withDisk('r.test/a:1'), mounting))).toBe(`r.test/a@${digest}`);
  });

  test('a source that was a target itself has the digest in the volume', () => {
    const source = { spec: { containers: [], volumes: [{ name: 'os', image: { reference: `r.test/a@${digest}` } }] } };
    expect(diskOf(withImagesOf(withDisk('r.test/a:1'), source))).toBe(`r.test/a@${digest}`);
  });

  test('Kubernetes is asked for no digest that is known; at a start it is, whatever the VMI names', () => {
    const initContainers = (pod: Pod) => (specOf(pod).initContainers ?? []).map(({ name }) => name);
    const [known, unknown] = [withDisk(`r.test/a@${digest}`), withDisk('r.test/a:1')];
    expect(initContainers(target(known))).toEqual(['guest-console-log']);
    expect(specOf(target(known)).volumes?.map(({ name }) => name)).not.toContain('launcher-volume');
    for (const pod of [target(unknown), render(known)])
      expect(initContainers(pod)).toEqual(['guest-console-log', 'volumeos']);
  });

  test("kernel and initrd are the source's too", () => {
    const vmi = withDomain({ firmware: { uuid: 'u', kernelBoot: { kernelArgs: 'q', container: { image: 'k:1' } } } });
    const { firmware } = withImagesOf(vmi, running('volumekernel-boot-volume', `k@${digest}`)).spec.domain;
    expect(firmware).toEqual({ uuid: 'u', kernelBoot: { kernelArgs: 'q', container: { image: `k@${digest}` } } });
  });

  test('without images the VMI is the same', () => {
    expect(withImagesOf(instance(), {})).toEqual(instance());
  });
});
