import { createHash } from 'node:crypto';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { newInstance } from '../../../api/defaults/index.ts';
import type { Fresh } from '../../../api/defaults/index.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { UnreadableObject, parseReplicaSet } from '../../../api/schemas/index.ts';
import { REPLICA_SET } from '../../facts/replica-set.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { timestamp } from '../conditions.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';
import { ownerReference } from './claim-replicas.ts';
import { findReplicaSet } from './read.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'clock' | 'log'>;

/** Longest name that Kubernetes makes: what comes before, and five characters. */
const BASE_MAX = 58;

/** Creates the VMIs with these numbers. Each that exists by then is left as it is. */
export const createReplicas =
  (ports: Ports): ControllerActivities['createReplicas'] =>
  async ({ set: ref, numbers }) => {
    const { kube, config, clock, log } = ports;
    const set = await findReplicaSet(kube, ref);
    if (set === undefined || set.metadata?.deletionTimestamp !== undefined)
      throw failure('ObjectGone', `${REPLICA_SET} ${ref.namespace}/${ref.name} is gone, or being deleted.`);
    const of = { kind: REPLICA_SET, ref } as const;
    const fresh = (): Fresh => ({ uuid: () => crypto.randomUUID(), now: timestamp(clock()) });
    const create = async (number: number): Promise<void> => {
      const vmi = replica(readable(set), number, config(), fresh());
      const name = vmi.metadata?.name ?? '';
      try {
        await kube.create('VirtualMachineInstance', vmi);
      } catch (error) {
        if (isAlreadyExists(error)) return;
        const message = `Error creating virtual machine instance: ${error instanceof Error ? error.message : String(error)}`;
        await recordEvent({ kube, log }, { ...of, reason: 'FailedCreate', message, isWarning: true });
        throw error;
      }
      const message = `Created virtual machine instance: ${name}`;
      await recordEvent({ kube, log }, { ...of, reason: 'SuccessfulCreate', message });
    };
    throwFirst(await Promise.allSettled(numbers.map(create)));
  };

/** Deletes these VMIs; one of the same name that came after stays. */
export const deleteReplicas =
  ({ kube, log }: Pick<Ports, 'kube' | 'log'>): ControllerActivities['deleteReplicas'] =>
  async ({ set: ref, vmis }) => {
    const of = { kind: REPLICA_SET, ref } as const;
    const remove = async (vmi: (typeof vmis)[number]): Promise<void> => {
      if ((await kube.remove('VirtualMachineInstance', vmi, { uid: vmi.uid })) === undefined) return;
      const message = `Deleted virtual machine instance: ${vmi.name}`;
      await recordEvent({ kube, log }, { ...of, reason: 'SuccessfulDelete', message });
    };
    throwFirst(await Promise.allSettled(vmis.map(remove)));
  };

/** All have been tried. @throws why the first one failed */
const throwFirst = (results: readonly PromiseSettledResult<void>[]): void => {
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

const readable = (set: VirtualMachineInstanceReplicaSet): VirtualMachineInstanceReplicaSet => {
  try {
    return parseReplicaSet(set);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    throw failure('InvalidSpec', error.message, error);
  }
};

/** The VMI of a replica set with a number: the same number always gives the same name. Pure, but for what is fresh. */
export const replica = (
  set: VirtualMachineInstanceReplicaSet,
  number: number,
  config: ClusterConfig,
  fresh: Fresh,
): VirtualMachineInstance => {
  const { namespace = '', name = '', uid = '' } = set.metadata ?? {};
  const { metadata = {}, spec = { domain: { devices: {} } } } = structuredClone(set.spec.template);
  const which = createHash('sha256').update(`${uid}/${number}`).digest('hex').slice(0, 5);
  const vmi: VirtualMachineInstance = {
    ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance' },
    metadata: {
      ...{ namespace, name: `${name.slice(0, BASE_MAX)}${which}` },
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [ownerReference({ metadata: { name, uid } })],
    },
    spec,
  };
  // As admission completes what users create: the API server does not ask it about ours.
  return newInstance(vmi, config, fresh);
};
