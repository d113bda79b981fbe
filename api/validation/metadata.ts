import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstance } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { needsGate, unsupported, when } from './cause.ts';
import type { Requester } from './requester.ts';

/** Labels that say where a VMI runs: nobody but the system writes them. */
const RESERVED_LABELS = [
  'kubevirt.io/created-by',
  'kubevirt.io/migrationJobUID',
  'kubevirt.io/nodeName',
  'kubevirt.io/migrationTargetNodeName',
  'kubevirt.io/schedulable',
  'kubevirt.io/install-strategy',
];

/** Annotations that switch on what has a gate. */
const GATED_ANNOTATIONS = [
  { annotation: 'kubevirt.io/ignitiondata', gate: 'ExperimentalIgnitionSupport' },
  { annotation: 'hooks.kubevirt.io/hookSidecars', gate: 'Sidecar' },
];

/** The reserved labels among these. */
export const reservedLabels = (labels: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => RESERVED_LABELS.includes(key)));

/** Labels and annotations of a VMI, or of a VM's template. */
export const metadataCauses = (
  { labels, annotations }: Pick<NonNullable<VirtualMachineInstance['metadata']>, 'labels' | 'annotations'>,
  config: ClusterConfig,
  { isSystem }: Requester,
): Cause[] => {
  const reserved = Object.keys(reservedLabels(labels));
  return [
    ...when(!isSystem && reserved.length > 0, () =>
      unsupported('metadata.labels', `${reserved.join(', ')} are written by the system itself: drop them`),
    ),
    ...GATED_ANNOTATIONS.flatMap(({ annotation, gate }) =>
      annotations?.[annotation] ? needsGate('metadata.annotations', gate, config, annotation) : [],
    ),
  ];
};
