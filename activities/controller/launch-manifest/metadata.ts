import type { ObjectMeta, OwnerReference } from '../../../api/kubernetes/types.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import {
  APP_LABEL,
  COMPUTE,
  CREATED_BY_LABEL,
  INSTANCE_LABEL,
  LAUNCHER_APP,
  MIGRATION_NAME_ANNOTATION,
  MIGRATION_UID_LABEL,
} from '../../facts/labels.ts';
import type { LaunchInput } from './input.ts';
import { memoryOverhead } from './memory-overhead.ts';
import { hostName, instanceLabel, podName } from './names.ts';
import { networkAnnotations } from './network-annotations.ts';
import { storageAnnotations } from './storage-annotations.ts';

const INJECT_SIDECAR = 'sidecar.istio.io/inject';

/** Annotations that stay with the VMI: kubectl's own, and versions that its API server recorded. */
const KEPT_BACK = [
  'kubectl.kubernetes.io',
  'kubevirt.io/storage-observed-api-version',
  'kubevirt.io/latest-observed-api-version',
];

/** Name, labels, annotations and owner of the launcher Pod. */
export const podMetadata = (input: LaunchInput): ObjectMeta => {
  const { vmi, purpose } = input;
  return {
    name: podName(vmi, purpose),
    namespace: vmi.metadata?.namespace ?? '',
    labels: podLabels(input),
    annotations: podAnnotations(input),
    ownerReferences: [ownerOf(vmi)],
  };
};

const podLabels = ({ vmi, purpose }: LaunchInput): Record<string, string> => {
  const inject = vmi.metadata?.annotations?.[INJECT_SIDECAR];
  return {
    ...vmi.metadata?.labels,
    [APP_LABEL]: LAUNCHER_APP,
    [CREATED_BY_LABEL]: vmi.metadata?.uid ?? '',
    'vm.kubevirt.io/name': hostName(vmi),
    [INSTANCE_LABEL]: instanceLabel(vmi),
    ...(inject === undefined ? {} : { [INJECT_SIDECAR]: inject }),
    ...('migration' in purpose ? { [MIGRATION_UID_LABEL]: purpose.migration.uid } : {}),
  };
};

const podAnnotations = ({ vmi, config, purpose }: LaunchInput): Record<string, string> => {
  const own = Object.entries(vmi.metadata?.annotations ?? {}).filter(
    ([key]) => !KEPT_BACK.some((prefix) => key.startsWith(prefix)),
  );
  return {
    'kubevirt.io/domain': vmi.metadata?.name ?? '',
    ...Object.fromEntries(own),
    'kubectl.kubernetes.io/default-container': COMPUTE,
    'kubevirt.io/migrationTransportUnix': 'true',
    'descheduler.alpha.kubernetes.io/request-evict-only': '',
    ...networkAnnotations(vmi),
    ...storageAnnotations(vmi, config),
    'kubevirt.io/memory-overhead-bytes': String(memoryOverhead(vmi, config)),
    ...('migration' in purpose ? { [MIGRATION_NAME_ANNOTATION]: purpose.migration.name } : {}),
  };
};

const ownerOf = ({ metadata }: VirtualMachineInstance): OwnerReference => ({
  apiVersion: KUBEVIRT_API_VERSION,
  kind: 'VirtualMachineInstance',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});
