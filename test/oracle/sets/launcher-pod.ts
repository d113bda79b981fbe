import type { Container, ContainerStatus, Pod, VolumeMount } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import { LAUNCHER_VOLUMES, VIRTIOFS } from '../../../api/launcher/paths.ts';
import {
  ManifestError,
  renderAttachmentManifest,
  renderLaunchManifest,
  renderTargetManifest,
  withImagesOf,
  type AttachmentInput,
  type ClaimFacts,
  type LaunchInput,
} from '../../../activities/controller/launch-manifest/index.ts';
import { configurationOf, type Departures } from '../configuration.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Gap, type Rule, type Verdict } from '../verdict.ts';

/** A case of the set launcher-pod. */
export interface PodCase extends Departures {
  id: string;
  kind: 'launcher' | 'migrationTarget' | 'migrationTargetCreated' | 'hotplugAttachment';
  vmi: VirtualMachineInstance;
  /** Of the source's Pod. */
  sourcePodContainerStatuses?: ContainerStatus[];
  migration?: { metadata: { name: string; uid: string }; spec: { addedNodeSelector?: Record<string, string> } };
  sourceNode?: { name: string; labels: Record<string, string> };
  sourcePod?: { name: string; containerStatuses: ContainerStatus[]; nodeSelector: Record<string, string> };
  pod?: Pod;
  error?: string;
  /** Of an attachment: what it brings, and to which Pod. */
  hotplugVolumes?: Volume[];
  ownerPod?: { name: string; uid: string; nodeName: string };
}

interface PodSetHead {
  cluster: { persistentVolumeClaims: Record<string, string> };
  templateService: { launcherImage: string };
}

export const POD_RULES: Rule<PodCase>[] = [
  {
    id: 'never-root',
    covers: ({ path }, { featureGates = [] }) => featureGates.includes('Root') && path.includes('/securityContext/'),
  },
];

const hasBindingPlugin = (testCase: PodCase): boolean =>
  (testCase.vmi.spec.domain.devices.interfaces ?? []).some(
    ({ binding }) => binding !== undefined && configurationOf(testCase).networkBindings.includes(binding.name),
  );

export const POD_GAPS: Gap<PodCase>[] = [
  {
    feature: 'device that a network attachment brings',
    covers: ({ path, ours }, { vmi }) =>
      ours === undefined &&
      /^spec\/containers\/compute\/resources\/(requests|limits)\/[^/]+\/[^/]+$/.test(path) &&
      !path.includes('/devices.kubevirt.io/') &&
      (vmi.spec.networks ?? []).some(({ multus }) => multus),
  },
  {
    feature: 'persistent reservation of a LUN',
    covers: ({ path, ours }, { vmi: { spec } }) =>
      (spec.domain.devices.disks ?? []).some(({ lun }) => lun?.reservation) &&
      ours === undefined &&
      /^(metadata\/labels|spec\/affinity)\//.test(path),
  },
  { feature: 'network binding plug-in', covers: (_, testCase) => hasBindingPlugin(testCase) },
];

/** Volumes that hold the launcher's own things, KubeVirt's or ours: another program, other directories. */
const OWN_VOLUMES = new Set([
  ...Object.values(LAUNCHER_VOLUMES).map(({ name }) => name),
  'public',
  'virt-bin-share-dir',
  'hotplug-disks',
  'private-libvirt',
  'private-libvirt-qemu',
  'network-info-annotation',
  VIRTIOFS.name,
]);

export function inputOf(testCase: PodCase, head: PodSetHead): LaunchInput {
  const claims = Object.entries(head.cluster.persistentVolumeClaims).map(([name, text]): [string, ClaimFacts] => [
    name,
    { volumeMode: text.startsWith('Block') ? 'Block' : 'Filesystem' },
  ]);
  return {
    vmi: testCase.vmi,
    config: configurationOf(testCase),
    launcherImage: head.templateService.launcherImage,
    purpose: { attempt: 1 },
    epoch: 1,
    claims: Object.fromEntries(claims),
  };
}

/** What users, schedulers and quotas see of a container. */
const visibleContainer = ({ command: _, args: __, env: ___, volumeMounts = [], ...container }: Container): object => ({
  ...container,
  mounted: userMounts(volumeMounts),
});

/** Which of the user's volumes a container sees; where it mounts them, and whether by parts, is its own affair. */
const userMounts = (mounts: VolumeMount[]): object | undefined =>
  byName(mounts, ({ readOnly = false }) => (readOnly ? 'read-only' : 'writable'));

/** The user's among volumes or mounts; undefined if there is none. */
function byName<Item extends { name: string }>(items: Item[], show: (item: Item) => unknown): object | undefined {
  const users = items.filter(({ name }) => !OWN_VOLUMES.has(name));
  return users.length === 0 ? undefined : Object.fromEntries(users.map((item) => [item.name, show(item)]));
}

/** What users, schedulers and quotas see of the Pod. */
export const visible = (pod: Pod): object => ({
  metadata: {
    name: (pod.metadata?.generateName ?? pod.metadata?.name)?.replace(/[^-]+$/, ''),
    labels: pod.metadata?.labels,
    annotations: pod.metadata?.annotations,
    ownerReferences: pod.metadata?.ownerReferences,
  },
  spec: {
    ...pod.spec,
    containers: pod.spec?.containers.map(visibleContainer),
    initContainers: pod.spec?.initContainers?.map(visibleContainer),
    volumes: byName(pod.spec?.volumes ?? [], (volume) => volume),
  },
});

/** Of every claim in the reference answers. */
const CLAIM_UID = 'pvc-uid-x';

/** The Pod of a case, by its kind. */
function renderCase(testCase: PodCase, head: PodSetHead): Pod {
  const input = inputOf(testCase, head);
  const { migration, sourceNode, sourcePod, ownerPod } = testCase;
  if (ownerPod !== undefined) {
    const claims = Object.entries(input.claims ?? {}).map(([name, claim]) => [name, { ...claim, uid: CLAIM_UID }]);
    return renderAttachmentManifest({
      ...{ vmi: input.vmi, config: input.config, launcherImage: input.launcherImage },
      owner: { name: ownerPod.name, uid: ownerPod.uid, node: ownerPod.nodeName },
      volumes: testCase.hotplugVolumes ?? [],
      claims: Object.fromEntries(claims) as AttachmentInput['claims'],
    });
  }
  const statuses = sourcePod?.containerStatuses ?? testCase.sourcePodContainerStatuses ?? [];
  const vmi = withImagesOf(input.vmi, { status: { containerStatuses: statuses } });
  if (migration === undefined)
    return renderLaunchManifest({ ...input, vmi, digestsKnown: testCase.kind === 'migrationTarget' });
  const { addedNodeSelector } = migration.spec;
  return renderTargetManifest(
    { ...input, vmi, purpose: { migration: migration.metadata } },
    {
      ...(addedNodeSelector === undefined ? {} : { addedNodeSelector }),
      sourceNode: { metadata: { labels: sourceNode?.labels ?? {} } },
      sourcePod: { spec: { containers: [], nodeSelector: sourcePod?.nodeSelector ?? {} } },
    },
  );
}

export function comparePod(testCase: PodCase, head: PodSetHead): Verdict {
  try {
    const pod = renderCase(testCase, head);
    const differences = testCase.pod
      ? compareJson(visible(pod), visible(testCase.pod))
      : [{ path: 'pod', ours: 'rendered', theirs: `refused: ${testCase.error}` }];
    return judge(differences, testCase, POD_RULES, POD_GAPS);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    if (testCase.error !== undefined) return { kind: 'equal' };
    return judge(
      [{ path: 'pod', ours: `refused: ${error.message}`, theirs: 'rendered' }],
      testCase,
      POD_RULES,
      POD_GAPS,
    );
  }
}

const podSet = (name: string, kind: PodCase['kind']): OracleSet => ({
  name: `launcher-pod (${name})`,
  file: 'launcher-pod.json',
  ruleIds: POD_RULES.map(({ id }) => id),
  judge: (testCase, head) => {
    const podCase = testCase as PodCase;
    return podCase.kind === kind ? comparePod(podCase, head as PodSetHead) : undefined;
  },
});

export const launcherPod = podSet('launcher', 'launcher');
export const migrationTarget = podSet('migration target, rendered', 'migrationTarget');
export const migrationTargetCreated = podSet('migration target, created', 'migrationTargetCreated');
export const hotplugAttachment = podSet('attachment of volumes', 'hotplugAttachment');
