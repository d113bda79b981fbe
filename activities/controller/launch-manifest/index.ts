import type { Pod, PodSpec } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { UNPAUSED_GATE } from '../../facts/labels.ts';
import { accessCredentials } from './access-credentials.ts';
import { podAffinity } from './affinity.ts';
import { computeContainer } from './compute.ts';
import { consoleLogContainer } from './console-log.ts';
import { imageContainers, imageInitContainers, imagePullSecrets, imageVolumes } from './container-images.ts';
import type { LaunchInput } from './input.ts';
import { launcherVolumes } from './launcher-volumes.ts';
import { podMetadata } from './metadata.ts';
import { asTarget } from './migration-target.ts';
import type { TargetInput } from './migration-target.ts';
import { hostName } from './names.ts';
import { requireBindings } from './network-bindings.ts';
import { nodeSelector } from './node-selector.ts';
import { podSecurity } from './security.ts';
import { stateVolume } from './state-volume.ts';
import { gracePeriodOf } from './traits.ts';
import { userVolumes } from './user-volumes.ts';
import { virtiofsContainers, virtiofsVolume } from './virtiofs.ts';

export { renderAttachmentManifest } from './attachment.ts';
export type { AttachmentInput } from './attachment.ts';
export { asFirstConsumer, firstConsumerName } from './first-consumer.ts';
export { ManifestError } from './input.ts';
export type { ClaimFacts, LaunchInput, LaunchPurpose } from './input.ts';
export { memoryOverhead } from './memory-overhead.ts';
export { withImagesOf } from './migration-target.ts';
export type { TargetInput } from './migration-target.ts';
export { podName } from './names.ts';
export { countsOnClock, TSC_FREQUENCY_LABEL } from './node-selector.ts';

/** Seconds beyond the guest's grace period after which Kubernetes may kill the Pod. */
const POD_GRACE_PADDING = 30;

/**
 * The launcher Pod of a start attempt, by KubeVirt's rules wherever users, schedulers and quotas see them.
 * @throws ManifestError naming the field when no Pod can be made of the spec
 */
export const renderLaunchManifest = (input: LaunchInput): Pod => {
  const { vmi, config } = input;
  requireBindings(input);
  const volumes = [
    ...launcherVolumes(vmi),
    ...stateVolume(input),
    ...userVolumes(input),
    ...accessCredentials(vmi),
    ...imageVolumes(input),
    ...virtiofsVolume(input),
  ];
  const initContainers = [...consoleLogContainer(input), ...imageInitContainers(input)];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podMetadata(input),
    spec: {
      hostname: hostName(vmi),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: gracePeriodOf(vmi) + POD_GRACE_PADDING,
      enableServiceLinks: false,
      securityContext: podSecurity(config),
      nodeSelector: nodeSelector(vmi, config),
      containers: [computeContainer(input, volumes), ...imageContainers(input), ...virtiofsContainers(input)],
      ...(initContainers.length > 0 ? { initContainers } : {}),
      volumes: volumes.map(({ volume }) => volume),
      readinessGates: [{ conditionType: UNPAUSED_GATE }],
      ...serviceAccount(vmi),
      ...optionalParts(input),
    },
  };
};

/**
 * The launcher Pod that a migration moves the guest to: the same Pod on another node that suits. It starts no domain by itself, as no launcher does:
 * that is its node worker's to say, who asks the run token.
 * @throws ManifestError
 */
export const renderTargetManifest = (input: LaunchInput, target: TargetInput): Pod => {
  const pod = renderLaunchManifest({ ...input, digestsKnown: true });
  return pod.spec === undefined ? pod : { ...pod, spec: asTarget(pod.spec, input.vmi, input.config, target) };
};

/** The token is mounted only where the VMI shows it to the guest or its service mesh needs it. */
const serviceAccount = ({ metadata, spec }: VirtualMachineInstance): Partial<PodSpec> => {
  const ofVolume = (spec.volumes ?? []).find(({ serviceAccount: source }) => source !== undefined)?.serviceAccount;
  const ofSpec =
    'serviceAccountName' in spec && typeof spec.serviceAccountName === 'string' ? spec.serviceAccountName : '';
  const name = ofSpec || ofVolume?.serviceAccountName;
  const meshed = metadata?.annotations?.['sidecar.istio.io/inject']?.toLowerCase() === 'true';
  return {
    automountServiceAccountToken: ofVolume?.serviceAccountName !== undefined || meshed,
    ...(name ? { serviceAccountName: name } : {}),
  };
};

/** What is copied from the VMI or the configuration when it is there. */
const optionalParts = (input: LaunchInput): Partial<PodSpec> => {
  const { spec } = input.vmi;
  const affinity = podAffinity(input.vmi);
  const secrets = imagePullSecrets(input);
  const { defaultRuntimeClass } = input.config;
  return {
    ...(affinity ? { affinity } : {}),
    ...(secrets.length > 0 ? { imagePullSecrets: secrets } : {}),
    ...(defaultRuntimeClass ? { runtimeClassName: defaultRuntimeClass } : {}),
    ...(spec.subdomain ? { subdomain: spec.subdomain } : {}),
    ...(spec.dnsPolicy ? { dnsPolicy: spec.dnsPolicy } : {}),
    ...(spec.dnsConfig ? { dnsConfig: spec.dnsConfig } : {}),
    ...(spec.priorityClassName ? { priorityClassName: spec.priorityClassName } : {}),
    ...(spec.schedulerName ? { schedulerName: spec.schedulerName } : {}),
    ...(spec.tolerations ? { tolerations: spec.tolerations } : {}),
    ...(spec.topologySpreadConstraints ? { topologySpreadConstraints: spec.topologySpreadConstraints } : {}),
    ...(spec.resourceClaims ? { resourceClaims: spec.resourceClaims } : {}),
  };
};
