import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { ConditionReport, InstanceReport } from '../../../api/contract/activities.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from '../../../api/kubevirt/types.ts';
import type { Migratability } from '../../../api/migratability/index.ts';
import { migratability } from '../../../api/migratability/index.ts';
import { UnreadableObject, parseInstance } from '../../../api/schemas/index.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import type { Claims } from '../volumes/claims.ts';
import { claimsOf, readClaims } from '../volumes/claims.ts';
import { dataVolumesReady } from '../volumes/data-volumes.ts';
import { getIfServed } from '../volumes/get-if-served.ts';

/** What a VMI's status says of what is around it. A part that is absent was not looked at: what the object says of it stays. */
export interface Surroundings {
  claims?: Claims;
  /** Condition DataVolumesReady. */
  dataVolumes?: ConditionReport;
  migratability?: Migratability;
  /** What its admission fills in, of an object that has not passed one. */
  beginnings?: Pick<VirtualMachineInstanceStatus, 'memory' | 'currentCPUTopology' | 'runtimeUser'>;
}

/**
 * Looks at what has to be said anew of a VMI's claims, DataVolumes and node. Claims when it gets its Pod, when its guest first runs and when it
 * runs elsewhere: nothing else that depends on them changes under a guest. A spec that cannot be read (any more) says nothing.
 */
export const surroundings = async (
  ports: Pick<ControllerPorts, 'kube' | 'around'>,
  vmi: VirtualMachineInstance,
  report: InstanceReport,
  config: ClusterConfig,
): Promise<Surroundings> => {
  const { kube } = ports;
  const runsAnew = isDue(vmi, report);
  const hasPod = Object.keys(report.activePods).length > 0;
  const isStarting = !isOver(report) && report.phase !== 'Running';
  const needsClaims = runsAnew || (isStarting && hasPod && vmi.status?.volumeStatus === undefined);
  const readable = needsClaims || isStarting ? readableOrNot(vmi) : undefined;
  if (readable === undefined) return {};
  const [claims, nodeLabels, dataVolumes] = await Promise.all([
    needsClaims ? readClaims(kube, readable) : undefined,
    runsAnew ? labelsOf(ports, report.node) : {},
    isStarting || runsAnew ? dataVolumesOf(kube, readable) : undefined,
  ]);
  const located = { ...readable, status: { ...readable.status, ...(report.node ? { nodeName: report.node } : {}) } };
  const complete = runsAnew ? withDefaults(located, config) : undefined;
  return {
    ...(claims === undefined ? {} : { claims }),
    ...(dataVolumes === undefined ? {} : { dataVolumes }),
    ...(complete === undefined || claims === undefined
      ? {}
      : { migratability: migratability(complete, { claims: accessModes(claims), config, nodeLabels }) }),
    ...(complete === undefined ? {} : { beginnings: beginnings(complete) }),
  };
};

const isOver = ({ phase }: InstanceReport): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Whether the object's word of the running guest is missing or of another node. */
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

const labelsOf = async (
  { kube, around }: Pick<ControllerPorts, 'kube' | 'around'>,
  name: string | undefined,
): Promise<Record<string, string>> => {
  if (name === undefined) return {};
  const node = around?.node(name) ?? (await kube.get('Node', { name }));
  return node?.metadata?.labels ?? {};
};

const dataVolumesOf = async (kube: KubePort, vmi: VirtualMachineInstance): Promise<ConditionReport | undefined> => {
  const namespace = vmi.metadata?.namespace ?? '';
  const names = claimsOf(vmi).flatMap(({ source, claim }) => (source === 'DataVolume' ? [claim] : []));
  const found = await Promise.all(names.map((name) => getIfServed(kube, 'DataVolume', { namespace, name })));
  return dataVolumesReady(found.filter((dataVolume) => dataVolume !== undefined));
};

const beginnings = ({ status }: VirtualMachineInstance): NonNullable<Surroundings['beginnings']> => ({
  ...(status?.memory === undefined ? {} : { memory: status.memory }),
  ...(status?.currentCPUTopology === undefined ? {} : { currentCPUTopology: status.currentCPUTopology }),
  ...(status?.runtimeUser === undefined ? {} : { runtimeUser: status.runtimeUser }),
});
