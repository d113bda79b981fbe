import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../api/kubernetes/types.ts';
import { renderLaunchManifest } from '../../../../activities/controller/launch-manifest/index.ts';
import {
  comparePod,
  inputOf,
  launcherPod,
  migrationTargetCreated,
  type PodCase,
} from '../../../oracle/sets/launcher-pod.ts';
import { vmi } from '../../launcher/converter/examples.ts';

const head = {
  cluster: { persistentVolumeClaims: { data: 'Block, ReadWriteMany' } },
  templateService: { launcherImage: 'l:1' },
};

/** A case whose answer is our own Pod as KubeVirt would write it, but for one change. */
function caseOf(change: (pod: Pod) => void = () => undefined): PodCase {
  const testCase: PodCase = { id: 'x', kind: 'launcher', vmi: vmi() };
  const pod = structuredClone(renderLaunchManifest(inputOf(testCase, head)));
  change(pod);
  return { ...testCase, pod };
}

test('the same Pod is equal, one that differs by a rule differs by a listed reason', () => {
  expect(comparePod(caseOf(), head)).toEqual({ kind: 'equal' });
  const asRoot = caseOf((pod) => {
    Object.assign(pod.spec?.containers[0]?.securityContext ?? {}, { runAsUser: 0 });
  });
  expect(comparePod({ ...asRoot, featureGates: ['Root'] }, head)).toEqual({ kind: 'listed', rules: ['never-root'] });
});

test.each<[string, (pod: Pod) => void]>([
  ['command', (pod) => Object.assign(pod.spec?.containers[0] ?? {}, { command: ['x'], args: ['y'], env: [] })],
  ["launcher's volumes", (pod) => pod.spec?.volumes?.push({ name: 'public', emptyDir: {} })],
  ['the random end of the name', (pod) => Object.assign(pod.metadata ?? {}, { name: 'virt-launcher-finch-zzz' })],
])('%s is not compared', (_, change) => {
  expect(comparePod(caseOf(change), head)).toEqual({ kind: 'equal' });
});

test.each<[string, (pod: Pod) => void]>([
  ['metadata/labels/kubevirt.io', (pod) => Object.assign(pod.metadata?.labels ?? {}, { 'kubevirt.io': 'x' })],
  ['spec/terminationGracePeriodSeconds', (pod) => Object.assign(pod.spec ?? {}, { terminationGracePeriodSeconds: 1 })],
  ['spec/nodeSelector/rack', (pod) => Object.assign(pod.spec?.nodeSelector ?? {}, { rack: '1' })],
  [
    'spec/containers/compute/resources/requests/memory',
    (pod) => Object.assign(pod.spec?.containers[0]?.resources?.requests ?? {}, { memory: '1' }),
  ],
  ['spec/volumes/data/emptyDir', (pod) => pod.spec?.volumes?.push({ name: 'data', emptyDir: {} })],
  ['spec/containers/side/name', (pod) => pod.spec?.containers.push({ name: 'side' })],
  ['spec/initContainers/side/name', (pod) => pod.spec?.initContainers?.push({ name: 'side' })],
])('%s is compared', (path, change) => {
  expect(comparePod(caseOf(change), head)).toMatchObject({
    kind: 'different',
    differences: expect.arrayContaining([expect.objectContaining({ path })]) as unknown,
  });
});

test('cases of other kinds belong to other sets', () => {
  expect(launcherPod.judge({ ...caseOf(), kind: 'migrationTarget' }, head)).toBeUndefined();
});

test("a target's Pod is rendered from the source's node, Pod and migration", () => {
  const testCase = {
    ...caseOf(),
    kind: 'migrationTargetCreated' as const,
    migration: { metadata: { name: 'm', uid: 'mu' }, spec: { addedNodeSelector: { rack: 'r3' } } },
    sourceNode: { name: 'n', labels: { 'cpu-vendor.node.kubevirt.io/Intel': 'true' } },
  };
  const differences = migrationTargetCreated.judge(testCase, head);
  expect(differences).toMatchObject({
    kind: 'different',
    differences: expect.arrayContaining(
      [
        'metadata/labels/kubevirt.io/migrationJobUID',
        'metadata/annotations/kubevirt.io/migrationJobName',
        'spec/nodeSelector/rack',
        'spec/nodeSelector/cpu-vendor.node.kubevirt.io/Intel',
      ].map((path) => expect.objectContaining({ path, theirs: undefined }) as unknown),
    ) as unknown,
  });
});

test("KubeVirt's refusal of what we render is a difference", () => {
  const { pod: _, ...refused } = caseOf();
  expect(comparePod({ ...refused, error: 'no' }, head)).toMatchObject({
    differences: [{ path: 'pod', ours: 'rendered' }],
  });
});
