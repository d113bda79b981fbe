import type { KubePort } from '../../../activities/kube/port.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Fresh } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { Requester } from '../../../api/validation/index.ts';
import { requesterOf } from '../../../api/validation/index.ts';

/** What admission asks: Kubernetes objects and nothing else. */
export interface AdmissionPorts {
  kube: Pick<KubePort, 'get' | 'list' | 'mergePatch'>;
  config: () => ClusterConfig;
  /** Namespace of virtflow. */
  namespace: string;
  clock: () => Date;
  /** What informers have, for a first look: whatever leads to a refusal is read again. */
  cached: {
    instance(namespace: string, name: string): VirtualMachineInstance | undefined;
    migrations(namespace: string): VirtualMachineInstanceMigration[];
  };
}

/** Uids and times for a new object. */
export const freshOf = ({ clock }: AdmissionPorts): Fresh => ({
  uuid: () => crypto.randomUUID(),
  now: clock()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z'),
});

/** Who asks, as far as rules depend on it. */
export const requester = ({ namespace }: AdmissionPorts, { userInfo }: { userInfo: { username: string } }): Requester =>
  requesterOf(userInfo.username, [namespace]);
