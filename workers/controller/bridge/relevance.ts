import type { InstanceFacts, PodFacts, VirtualMachineFacts } from '../../../api/contract/facts.ts';
import type { MigrationFacts } from '../../../api/contract/migrations.ts';
import type { NodeFacts } from '../../../api/contract/nodes.ts';
import type { KubeVirt, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Node, PersistentVolumeClaim, ResourceQuota } from '../../../api/kubernetes/types.ts';

/**
 * What of an object matters to whom, as a digest: two versions with the same digest are the same to the receiver. It leaves out our own echoes
 * (a status that the entity itself has written) and the noise of kubelets (probe times, resourceVersions).
 */

/** To a VM's own entity: what the user asks for. Finalizers and status are the entity's own words. */
export const vmDigest = ({ finalizers: _f, ranUnder: _r, startFailure: _s, ...facts }: VirtualMachineFacts): string =>
  digest(facts);

/** To a VMI's own entity: what the user asks for. Phase and conditions are the entity's own words. */
export const instanceDigest = (instance: InstanceFacts): string => {
  const { ready: _r, paused: _p, ran: _n, phase: _h, untouched: _u, ...facts } = instance;
  return digest(facts);
};

/** Phases of an instance on its way to run. */
const STARTING = ['', 'Pending', 'Scheduling', 'Scheduled'];
/** Conditions in which a start tells what holds it up, with the status that does. */
const OBSTACLES: Record<string, string> = { Synchronized: 'False', PodScheduled: 'False', Provisioning: 'True' };

const isStarting = ({ phase, deleting }: Pick<InstanceFacts, 'phase' | 'deleting'>): boolean =>
  STARTING.includes(phase) && !deleting;

/** It is on its way to run, and nothing holds it up. */
export const isStartingWell = ({ metadata, status }: VirtualMachineInstance): boolean =>
  isStarting({ phase: status?.phase ?? '', deleting: metadata?.deletionTimestamp !== undefined }) &&
  (status?.conditions ?? []).every(({ type, status: is }) => OBSTACLES[type] !== is);

/**
 * To the entity of the VM that owns a VMI: how the instance stands, whether it migrates, and the conditions that the VM mirrors. Of a start only what
 * holds it up: its steps make no difference to the VM. Of one that is being deleted how it ends.
 */
export const ownedInstanceDigest = (facts: InstanceFacts, vmi: VirtualMachineInstance | undefined): string => {
  const conditions = (facts.deleting ? [] : (vmi?.status?.conditions ?? []))
    .filter(({ type, status }) => !isStarting(facts) || OBSTACLES[type] === status)
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  const { finalizers: _f, resourceVersion: _v, evacuationNode: _e, untouched: _u, ...rest } = facts;
  const { startTimestamp, endTimestamp } = vmi?.status?.migrationState ?? {};
  const phase = isStarting(facts) ? 'starting' : facts.phase;
  return JSON.stringify({ ...rest, phase, conditions, migrating: [startTimestamp, endTimestamp] });
};

/** To a migration: what its user asks for. Phase and finalizers are its own words. */
export const migrationDigest = ({ phase: _h, finalizers: _f, ...facts }: MigrationFacts): string => digest(facts);

/** To the entity of the VMI that a launcher Pod belongs to. */
export const podDigest = (facts: PodFacts): string => digest(facts);

const digest = ({ resourceVersion: _, ...rest }: { resourceVersion?: string }): string => JSON.stringify(rest);

/** How far CDI's Pod is that fills a claim. */
const FILLING = 'cdi.kubevirt.io/storage.pod.phase';

/** Whether a start that waits may go on: a claim came, went, was bound, or was filled. */
export const claimMatters = (before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim): boolean =>
  before?.status?.phase !== after.status?.phase ||
  before?.metadata?.uid !== after.metadata?.uid ||
  before?.metadata?.deletionTimestamp !== after.metadata?.deletionTimestamp ||
  before?.metadata?.annotations?.[FILLING] !== after.metadata?.annotations?.[FILLING];

/** Whether a quota has another limit or another use than before. */
export const quotaMatters = (before: ResourceQuota | undefined, after: ResourceQuota | undefined): boolean =>
  JSON.stringify([before?.spec?.hard, before?.status?.used]) !==
  JSON.stringify([after?.spec?.hard, after?.status?.used]);

/** Set by a node's worker while it serves. */
const SCHEDULABLE_LABEL = 'kubevirt.io/schedulable';

/** To a Node's own workflow: how it stands. A heartbeat matters only by its absence. */
export const nodeDigest = ({ heartbeat, ...facts }: NodeFacts): string =>
  JSON.stringify([facts, facts.silent ? heartbeat : '']);

/** Whether a node may take Pods, was fenced, or its worker came or went: not its heartbeats. */
export const nodeMatters = (before: Node | undefined, after: Node | undefined): boolean =>
  conditionOf(before) !== conditionOf(after);

const conditionOf = (node: Node | undefined): string =>
  JSON.stringify([node?.spec?.taints, node?.spec?.unschedulable, node?.metadata?.labels?.[SCHEDULABLE_LABEL]]);

/** Whether the cluster's configuration is another one. */
export const configurationMatters = (before: KubeVirt | undefined, after: KubeVirt | undefined): boolean =>
  JSON.stringify(before?.spec) !== JSON.stringify(after?.spec);
