import { UnreadableObject, parseInstance } from '../../../api/schemas/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { InstanceReport } from '../../../api/contract/activities.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Migratability } from '../../../api/migratability/index.ts';
import { migratability } from '../../../api/migratability/index.ts';
import type { KubePort } from '../../kube/port.ts';
import type { Claims } from '../volumes/claims.ts';
import { readClaims } from '../volumes/claims.ts';

/**
 * Whether a running VMI can be migrated, from live reads of its claims and its node. Asked when its guest first runs and again when it runs elsewhere:
 * nothing else that it depends on changes under a guest. Undefined: the object says so already, or its spec cannot be read (any more).
 */
export const assessMigratability = async (
  kube: KubePort,
  vmi: VirtualMachineInstance,
  report: InstanceReport,
  config: ClusterConfig,
): Promise<Migratability | undefined> => {
  if (!isDue(vmi, report)) return undefined;
  const readable = readableOrNot(vmi);
  if (readable === undefined) return undefined;
  const [claims, nodeLabels] = await Promise.all([readClaims(kube, readable), labelsOf(kube, report.node)]);
  const located = { ...readable, status: { ...readable.status, ...(report.node ? { nodeName: report.node } : {}) } };
  return migratability(withDefaults(located, config), { claims: accessModes(claims), config, nodeLabels });
};

/** Whether the object's word is missing or of another node. */
const isDue = ({ status }: VirtualMachineInstance, { phase, node }: InstanceReport): boolean =>
  phase === 'Running' &&
  ((node !== undefined && status?.nodeName !== node) ||
    !(status?.conditions ?? []).some(({ type }) => type === 'LiveMigratable'));

const readableOrNot = (vmi: VirtualMachineInstance): VirtualMachineInstance | undefined => {
  try {
    return parseInstance(vmi);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    return undefined;
  }
};

/** Access modes of claims, by name. */
export const accessModes = (claims: Claims): Record<string, string[]> =>
  Object.fromEntries(Object.entries(claims).map(([name, { spec }]) => [name, spec?.accessModes ?? []]));

const labelsOf = async (kube: KubePort, node: string | undefined): Promise<Record<string, string>> =>
  node === undefined ? {} : ((await kube.get('Node', { name: node }))?.metadata?.labels ?? {});
