import { createHash } from 'node:crypto';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Container, Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import { LAUNCHER_UID } from '../../../api/launcher/paths.ts';
import { APP_LABEL } from '../../facts/labels.ts';
import type { ClaimFacts } from './input.ts';
import { attachmentResources } from './support-resources.ts';
import { claimNameOf, selinuxLevelOf } from './traits.ts';

/** What a Pod that brings volumes to a running guest's node is made of. */
export interface AttachmentInput {
  vmi: VirtualMachineInstance;
  config: Pick<ClusterConfig, 'imagePullPolicy' | 'supportContainers'>;
  launcherImage: string;
  /** The guest's Pod, with whose end the volumes go. */
  owner: { name: string; uid: string; node: string };
  /** Volumes of claims; all that are plugged at that time. */
  volumes: Volume[];
  /** By claim name. */
  claims: Record<string, ClaimFacts & { uid: string }>;
}

const APP = 'hotplug-disk';
const SHARED = { name: 'hotplug-disks', path: '/path' };
const HASH_LENGTH = 8;

/** Trouble of a node that does not matter: the guest is there already. */
const TOLERATED = ['disk-pressure', 'memory-pressure', 'network-unavailable', 'pid-pressure', 'unschedulable'];

/** Does nothing until it is told to stop, and then ends at once. */
const WAIT = `trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done`;

/**
 * The Pod that holds volumes for a running guest, on its node: the kubelet attaches them for it, and the node's worker shows them to the launcher. The same
 * volumes always give the same name.
 */
export const renderAttachmentManifest = (input: AttachmentInput): Pod => {
  const { vmi, owner, volumes } = input;
  const { namespace = '', name = '', uid = '' } = vmi.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ namespace, name: attachmentName(input) },
      labels: { [APP_LABEL]: APP },
      annotations: { 'kubevirt.io/owner-vmi-name': name, 'kubevirt.io/owner-vmi-uid': uid },
      ownerReferences: [
        {
          ...{ apiVersion: 'v1', kind: 'Pod', name: owner.name, uid: owner.uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    },
    spec: {
      terminationGracePeriodSeconds: 0,
      affinity: onNode(owner.node),
      tolerations: TOLERATED.map((trouble) => ({
        ...{ key: `node.kubernetes.io/${trouble}`, operator: 'Exists', effect: 'NoSchedule' },
      })),
      containers: [holder(input)],
      volumes: [
        { name: SHARED.name, emptyDir: {} },
        ...volumes.map((volume) => ({
          name: volume.name,
          persistentVolumeClaim: { claimName: claimNameOf(volume) ?? '' },
        })),
      ],
    },
  };
};

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>;

/** Of Pod and volumes. */
const attachmentName = ({ owner, volumes }: AttachmentInput): string => {
  const which = JSON.stringify([owner.uid, ...volumes.map((volume) => [volume.name, claimNameOf(volume)])]);
  return `hp-volume-${createHash('sha256').update(which).digest('hex').slice(0, HASH_LENGTH)}`;
};

const onNode = (node: string): Affinity => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
    },
  },
});

const holder = ({ vmi, config, launcherImage, volumes, claims }: AttachmentInput): Container => {
  const claimOf = (volume: Volume): AttachmentInput['claims'][string] | undefined => claims[claimNameOf(volume) ?? ''];
  const [blocks, files] = [
    volumes.filter((volume) => claimOf(volume)?.volumeMode === 'Block'),
    volumes.filter((volume) => claimOf(volume)?.volumeMode !== 'Block'),
  ];
  return {
    name: APP,
    image: launcherImage,
    command: ['/bin/sh', '-c', WAIT],
    resources: attachmentResources(config),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      runAsUser: LAUNCHER_UID,
      seccompProfile: { type: 'RuntimeDefault' },
      seLinuxOptions: { level: selinuxLevelOf(vmi) || 's0' },
    },
    volumeMounts: [
      { name: SHARED.name, mountPath: SHARED.path, mountPropagation: 'HostToContainer' },
      ...files.map(({ name }) => ({ name, mountPath: `/${name}` })),
    ],
    ...(blocks.length === 0
      ? {}
      : {
          volumeDevices: blocks.map((volume) => ({
            name: volume.name,
            devicePath: `${SHARED.path}/${volume.name}/${claimOf(volume)?.uid ?? ''}`,
          })),
        }),
  };
};
