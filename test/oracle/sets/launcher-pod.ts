import { effectiveConfiguration } from '../../../api/cluster-config/index.ts';
import type { Container, Pod } from '../../../api/kubernetes/types.ts';
import type { KubeVirtConfiguration, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import {
  ManifestError,
  renderLaunchManifest,
  type ClaimFacts,
  type LaunchInput,
} from '../../../activities/controller/launch-manifest/index.ts';
import { compareJson } from '../json-tree.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Rule, type Verdict } from '../verdict.ts';

/** A case of the set launcher-pod, of kind launcher. */
export interface PodCase {
  id: string;
  kind: string;
  vmi: VirtualMachineInstance;
  featureGates?: string[];
  disabledFeatureGates?: string[];
  useEmulation?: boolean;
  kubevirtConfiguration?: KubeVirtConfiguration;
  pod?: Pod;
  error?: string;
}

interface PodSetHead {
  cluster: { persistentVolumeClaims: Record<string, string> };
  templateService: { launcherImage: string };
}

export const POD_RULES: Rule<PodCase>[] = [];

/** Volumes that hold the launcher's own things, KubeVirt's or ours: another program, other directories. */
const OWN_VOLUMES = new Set([
  ...Object.values(LAUNCHER_VOLUMES).map(({ name }) => name),
  'public',
  'virt-bin-share-dir',
  'hotplug-disks',
]);

const LAUNCHER = 'compute';

export function inputOf(testCase: PodCase, head: PodSetHead): LaunchInput {
  const { vmi, featureGates, disabledFeatureGates, useEmulation, kubevirtConfiguration = {} } = testCase;
  const developerConfiguration = {
    ...kubevirtConfiguration.developerConfiguration,
    ...(featureGates ? { featureGates } : {}),
    ...(disabledFeatureGates ? { disabledFeatureGates } : {}),
    ...(useEmulation === undefined ? {} : { useEmulation }),
  };
  const claims = Object.entries(head.cluster.persistentVolumeClaims).map(([name, text]): [string, ClaimFacts] => [
    name,
    { volumeMode: text.startsWith('Block') ? 'Block' : 'Filesystem' },
  ]);
  return {
    vmi,
    config: effectiveConfiguration({ spec: { configuration: { ...kubevirtConfiguration, developerConfiguration } } }),
    launcherImage: head.templateService.launcherImage,
    attempt: { attempt: 1, epoch: 1 },
    claims: Object.fromEntries(claims),
  };
}

/** What users, schedulers and quotas see of a container. */
const visibleContainer = ({ command: _, args: __, env: ___, ...container }: Container): object => ({
  ...container,
  volumeMounts: container.volumeMounts
    ?.filter(({ name }) => !OWN_VOLUMES.has(name))
    .map(({ mountPath: _, ...mount }) => mount),
});

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
    volumes: pod.spec?.volumes?.filter(({ name }) => !OWN_VOLUMES.has(name)),
  },
});

export function comparePod(testCase: PodCase, head: PodSetHead): Verdict {
  try {
    const pod = renderLaunchManifest(inputOf(testCase, head));
    const theirs = testCase.pod ? visible(testCase.pod) : { refused: testCase.error };
    return judge(compareJson(visible(pod), theirs), testCase, POD_RULES);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    if (testCase.error !== undefined) return { kind: 'equal' };
    return judge([{ path: 'pod', ours: `refused: ${error.message}`, theirs: 'rendered' }], testCase, POD_RULES);
  }
}

export const launcherPod: OracleSet = {
  name: 'launcher-pod (launcher)',
  file: 'launcher-pod.json',
  ruleIds: POD_RULES.map(({ id }) => id),
  judge: (testCase, head) => {
    const podCase = testCase as PodCase;
    return podCase.kind === 'launcher' ? comparePod(podCase, head as PodSetHead) : undefined;
  },
};
