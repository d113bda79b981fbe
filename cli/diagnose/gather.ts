import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { entityStatus, type EntityStatus } from '../../api/contract/entities.ts';
import { evacuationStatus, type EvacuationStatus } from '../../api/contract/evacuation.ts';
import { evacuationId, instanceId, migrationId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE, nodeQueue } from '../../api/contract/task-queues.ts';
import type { Node, Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import { operationsQuery } from '../history/collect.ts';
import { isOver, migrationsOf, refOf, sinceCreationOf, type Migration } from '../migration/objects.ts';
import { withTemporal, type TemporalTarget } from '../temporal/connection.ts';
import { asking, readOperation, whySilent } from '../temporal/operations.ts';
import type { Guest } from '../virtual-machine.ts';
import type { Asked, Facts, OperationFacts, TemporalFacts } from './facts.ts';
import { guestPod } from './pod.ts';

/** On a launcher Pod: uid of its VMI (KubeVirt's API types). */
const CREATED_BY_LABEL = 'kubevirt.io/created-by';

/** Number of Temporal's TaskQueueType for activities. */
const ACTIVITY_QUEUE = 2;

/** Asks everybody who may know something; whoever does not answer is noted. */
export async function gather({ kube, name, vm, vmi }: Guest): Promise<Facts> {
  const [pods, claims, migration] = await Promise.all([
    asked(() => (vmi ? podsOf(kube, vmi) : Promise.resolve([]))),
    asked(() => (vmi ? claimsOf(kube, vmi) : Promise.resolve([]))),
    asked(async () => (vmi ? newest(sinceCreationOf(await migrationsOf(kube, name), vmi)) : undefined)),
  ]);
  const now = new Date().toISOString();
  const found = { now, name, ...(vm && { vm }), ...(vmi && { vmi }), pods, claims, migration };
  const nodeName = guestPod({ ...found, node: NOBODY, temporal: NOBODY })?.spec?.nodeName;
  const node = await asked(async () => (nodeName === undefined ? undefined : kube.get('Node', { name: nodeName })));
  return {
    ...found,
    node,
    temporal: await asked(() =>
      withTemporal((temporal) =>
        askTemporal(temporal, {
          ...{ name, vmi, nodeName, node: node.answered ? node.value : undefined },
          migration: migration.answered ? migration.value : undefined,
        }),
      ),
    ),
  };
}

const NOBODY: Asked<never> = { answered: false, why: '' };

/** An answer, or why there is none: a diagnosis goes on without it and says so. */
async function asked<T>(question: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { answered: true, value: await question() };
  } catch (error) {
    return { answered: false, why: whySilent(error) ?? (error instanceof Error ? error.message : String(error)) };
  }
}

async function podsOf(kube: KubePort, { metadata }: VirtualMachineInstance): Promise<Pod[]> {
  const labelSelector = `${CREATED_BY_LABEL}=${metadata?.uid}`;
  const pods = await kube.list('Pod', { namespace: metadata?.namespace ?? '', labelSelector });
  const born = (pod: Pod): string => pod.metadata?.creationTimestamp ?? '';
  return pods.sort((a, b) => born(a).localeCompare(born(b)));
}

async function claimsOf(kube: KubePort, { metadata, spec }: VirtualMachineInstance) {
  const names = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim, dataVolume }) => {
    const name = persistentVolumeClaim?.claimName ?? dataVolume?.name;
    return name === undefined ? [] : [name];
  });
  return Promise.all(
    names.map(async (name) => {
      const claim = await kube.get('PersistentVolumeClaim', { namespace: metadata?.namespace ?? '', name });
      return { name, ...(claim && { claim }) };
    }),
  );
}

const newest = (migrations: readonly Migration[]): Migration | undefined =>
  migrations.find((migration) => !isOver(migration)) ?? migrations.at(-1);

interface Known {
  name: { namespace: string; name: string };
  vmi: VirtualMachineInstance | undefined;
  migration: Migration | undefined;
  nodeName: string | undefined;
  node: Node | undefined;
}

async function askTemporal(
  temporal: TemporalTarget,
  { name, vmi, migration, nodeName, node }: Known,
): Promise<TemporalFacts> {
  const { client } = temporal;
  const uid = vmi?.metadata?.uid;
  const entity = await asked(() => (uid ? entityOf(client, instanceId({ ...name, uid })) : Promise.resolve(undefined)));
  const known = entity.answered ? entity.value : undefined;
  const id =
    known?.operation ?? known?.failedOperation?.id ?? (entity.answered ? undefined : await lastId(client, name));
  const [operation, moving, evacuation, pollers] = await Promise.all([
    id === undefined || id.startsWith('migration/') ? undefined : operationOf(client, id),
    migration && operationOf(client, migrationId(refOf(migration))),
    node && asked(() => evacuationOf(client, node)),
    pollersOf(temporal, [CONTROLLER_QUEUE, ...(nodeName === undefined ? [] : [nodeQueue(nodeName)])]),
  ]);
  return {
    ...{ entity, pollers },
    ...(operation && { operation }),
    ...(moving && { migration: moving }),
    ...(evacuation && { evacuation }),
  };
}

const evacuationOf = (client: Client, { metadata }: Node): Promise<EvacuationStatus | undefined> =>
  unlessAbsent(() => {
    const id = evacuationId({ name: metadata?.name ?? '', uid: metadata?.uid ?? '' });
    return asking(client, () => client.workflow.getHandle(id).query(evacuationStatus));
  });

const entityOf = (client: Client, id: string): Promise<EntityStatus | undefined> =>
  unlessAbsent(() => asking(client, () => client.workflow.getHandle(id).query(entityStatus)));

const operationOf = (client: Client, workflowId: string): Promise<OperationFacts | undefined> =>
  unlessAbsent(async () => {
    const execution = await asking(client, () => client.workflow.getHandle(workflowId).describe());
    return { workflowId, ...(await readOperation(client, execution)) };
  });

async function unlessAbsent<T>(question: () => Promise<T>): Promise<T | undefined> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The newest start or shutdown that is open, when the entity cannot say which. */
async function lastId(client: Client, { namespace, name }: { namespace: string; name: string }) {
  const query = `${operationsQuery(namespace, name)} AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query }))
    if (!workflowId.startsWith('migration/')) return workflowId;
  return undefined;
}

async function pollersOf({ connection, namespace }: TemporalTarget, queues: string[]): Promise<Record<string, number>> {
  const counted = await Promise.all(
    queues.map(async (name) => {
      const { pollers } = await connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name },
        taskQueueType: ACTIVITY_QUEUE,
      });
      return [name, pollers?.length ?? 0] as const;
    }),
  );
  return Object.fromEntries(counted);
}
