import { dependencyChanged } from '../../../api/contract/entities.ts';
import type { PodFacts } from '../../../api/contract/facts.ts';
import { claimsOf } from '../../../activities/controller/volumes/claims.ts';
import type { EvictionRules } from '../../../activities/facts/evacuation.ts';
import { instanceFacts, isFinal } from '../../../activities/facts/instance.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { podFacts } from '../../../activities/facts/pod.ts';
import type { Node, Pod } from '../../../api/kubernetes/types.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../../api/kubevirt/types.ts';
import type { Logger } from '../../shared/logging.ts';
import type { Change } from '../../shared/informer.ts';
import type { WatchedChange } from '../informers/informers.ts';
import type { Delivery } from './deliveries.ts';
import {
  instanceOf,
  limitsMayHaveChanged,
  ofDependency,
  ofEvacuation,
  ofInstance,
  ofMigration,
  ofNode,
  ofPod,
  ofReference,
  ofReplicaSet,
  ofVirtualMachine,
} from './deliveries.ts';
import { evacuationsAfterInstance, evacuationsAfterMigration, evacuationsAfterNode } from './evacuation.ts';
import { CoalescingQueue } from './queue.ts';
import { Later } from './later.ts';
import { waitingFor } from './references.ts';
import { replicaSetMatters, replicaSetsAfterInstance } from './replica-sets.ts';
import { claimMatters, configurationMatters, nodeMatters, quotaMatters } from './relevance.ts';

export interface BridgePorts {
  deliver: (delivery: Delivery) => Promise<void>;
  /** Instances in the cache, to find those that wait for something. */
  instances: () => VirtualMachineInstance[];
  /** Nodes in the cache, to find the one that somebody is to leave. */
  nodes: () => Node[];
  replicaSets: () => VirtualMachineInstanceReplicaSet[];
  /** VMs in the cache, to find those that wait for what they refer to. */
  virtualMachines: () => VirtualMachine[];
  rules: () => EvictionRules;
  log: Logger;
  /** How long what can wait does, in ms. */
  patienceMs?: number;
  /** ms since 1970; Date.now unless a test says otherwise. */
  now?: () => number;
  /** Told of each delivery that failed. */
  onFailure?: () => void;
}

/**
 * A guest whose launcher is up runs within a second or two; one that does not is worth a word. Who shuts a guest down waits for its launcher, and for its
 * Pod to go, and mostly knows of both in a fraction of that.
 */
const PATIENCE_MS = { runs: 5_000, over: 2_000 };

/** Phases in which a start may be waiting for something. */
const WAITING = new Set(['', 'Pending', 'Scheduling', 'Scheduled']);

/**
 * From objects to signals. Only the leader has one. It tells a receiver only what changed since the last delivery that Temporal has acknowledged, and
 * while Temporal is down it keeps the newest state per receiver and subject.
 */
export class Bridge {
  readonly #ports: BridgePorts;
  readonly #queue: CoalescingQueue<Delivery>;
  readonly #later = new Later();
  /** Digest of the last acknowledged delivery, by key. */
  readonly #acknowledged = new Map<string, string>();

  constructor(ports: BridgePorts) {
    this.#ports = ports;
    this.#queue = new CoalescingQueue<Delivery>({
      deliver: async (key, delivery) => {
        // It came again while it was on its way.
        if (delivery.digest !== '' && this.#acknowledged.get(key) === delivery.digest) return;
        await ports.deliver(delivery);
        if (isLast(delivery)) this.#acknowledged.delete(key);
        else this.#acknowledged.set(key, delivery.digest);
      },
      // Of many VMs that come at once the first are to run early: what has begun comes before what begins.
      isLast: (key, { kind }) => kind === 'ownVirtualMachine' && !this.#acknowledged.has(key),
      onFailure: (key, error) => {
        ports.onFailure?.();
        ports.log.warn({ err: error, key }, 'delivery failed; tried again');
      },
    });
  }

  /** Deliveries that Temporal has not acknowledged. */
  get backlog(): number {
    return this.#queue.size;
  }

  stop(): void {
    this.#later.stop();
    this.#queue.stop();
  }

  /** Takes a change of an object in. */
  changed(change: WatchedChange): void {
    if (change.kind === 'VirtualMachineInstance') this.#forgetOver(change);
    for (const delivery of this.#deliveriesOf(change)) this.#offer(delivery);
  }

  /** Looks at a Node although nothing of it has changed: only time tells that its worker is silent. */
  look(node: Node): void {
    for (const delivery of ofNode(node, false, this.#ports.now?.() ?? Date.now())) this.#offer(delivery);
  }

  /** Delivers whether or not something changed: the receiver may have lost what it was told. */
  insist(deliveries: Delivery[]): void {
    for (const delivery of deliveries) {
      this.#acknowledged.delete(delivery.key);
      this.#queue.put(delivery.key, delivery);
    }
  }

  #offer(delivery: Delivery): void {
    const { key, digest } = delivery;
    if (digest !== '' && this.#acknowledged.get(key) === digest) return;
    this.#later.forget(key);
    const wait = delivery.kind === 'plain' ? delivery.canWait : undefined;
    // Who has been told something of a start is told what became of it.
    const isAwaited = wait?.until === 'runs' && this.#acknowledged.has(key);
    if (wait === undefined || isAwaited || this.#queue.has(key)) return this.#queue.put(key, delivery);
    const { vmi, until } = wait;
    const isNews = (): boolean =>
      until === 'runs' ? this.#isStarting(vmi) : !isFinal(this.#instance(vmi)?.status?.phase);
    const patienceMs = this.#ports.patienceMs ?? PATIENCE_MS[until];
    this.#later.put(key, vmi, patienceMs, () => isNews() && this.#queue.put(key, delivery));
  }

  #instance(uid: string): VirtualMachineInstance | undefined {
    return this.#ports.instances().find(({ metadata }) => metadata?.uid === uid);
  }

  #isStarting(uid: string): boolean {
    const vmi = this.#instance(uid);
    return vmi !== undefined && WAITING.has(vmi.status?.phase ?? '');
  }

  /** Nobody waits any more for what concerns a VMI that was over when it went. */
  #forgetOver({ before, after }: Change<VirtualMachineInstance>): void {
    if (after !== undefined || !isFinal(before?.status?.phase)) return;
    this.#later.forgetAbout(before?.metadata?.uid ?? '');
  }

  #isDeleting(uid: string): boolean {
    return this.#instance(uid)?.metadata?.deletionTimestamp !== undefined;
  }

  /** A VM that is being deleted has asked for the end of its instance, and waits for nothing but that. */
  #goesWithItsVm(vmi: VirtualMachineInstance | undefined): boolean {
    if (vmi?.metadata?.deletionTimestamp === undefined) return false;
    const owner = instanceFacts(vmi).owner?.uid;
    const vm = this.#ports.virtualMachines().find(({ metadata }) => metadata?.uid === owner);
    return vm?.metadata?.deletionTimestamp !== undefined;
  }

  /** The Pod of a VMI that is being deleted is deleted too: what counts is that it has ended, or is gone. */
  #isExpectedToEnd(pod: Pod, isGone: boolean): boolean {
    if (isGone || pod.metadata?.deletionTimestamp === undefined || podFacts(pod).provenEnded) return false;
    return this.#isDeleting(instanceOf(pod)?.uid ?? '');
  }

  /** So is its end no news to who shuts its guest down, if that goes well. */
  readonly #ofEnd = (delivery: Delivery): Delivery => {
    const facts = delivery.kind === 'plain' ? (delivery.args[0] as PodFacts) : undefined;
    if (facts?.createdBy === undefined || !this.#isDeleting(facts.createdBy)) return delivery;
    return { ...delivery, canWait: { vmi: facts.createdBy, until: 'over' } } as Delivery;
  };

  #deliveriesOf(change: WatchedChange): Delivery[] {
    const isGone = change.after === undefined;
    switch (change.kind) {
      case 'VirtualMachine':
        return subjects(change).flatMap((vm) => ofVirtualMachine(vm, isGone));
      case 'VirtualMachineInstance':
        return [
          ...subjects(change)
            .flatMap((vmi) => ofInstance(vmi, isGone, change.before))
            .filter(({ kind }) => kind !== 'plain' || isGone || !this.#goesWithItsVm(change.after)),
          ...evacuationsAfterInstance(change, this.#ports).map(ofEvacuation),
          ...replicaSetsAfterInstance(change, this.#ports.replicaSets).map(ofReplicaSet),
        ];
      case 'Pod':
        return subjects(change).flatMap((pod) => [
          ...(this.#isExpectedToEnd(pod, isGone) ? [] : ofPod(pod, isGone, change.before).map(this.#ofEnd)),
          ...this.#wakeSuccessors(pod, isGone),
        ]);
      case 'PersistentVolumeClaim': {
        const { before, after } = change;
        if (after === undefined || !claimMatters(before, after)) return [];
        const { namespace, name = '' } = after.metadata ?? {};
        return this.#wake('PersistentVolumeClaim', name, namespace, (vmi) =>
          claimsOf(vmi).some(({ claim }) => claim === name),
        );
      }
      case 'ResourceQuota': {
        if (!quotaMatters(change.before, change.after)) return [];
        const { namespace, name = '' } = (change.after ?? change.before)?.metadata ?? {};
        return this.#wake('ResourceQuota', name, namespace);
      }
      case 'Node':
        return [
          ...subjects(change).flatMap((node) => ofNode(node, isGone, this.#ports.now?.() ?? Date.now())),
          ...evacuationsAfterNode(change, this.#ports).map(ofEvacuation),
          ...(nodeMatters(change.before, change.after)
            ? this.#wake('Node', (change.after ?? change.before)?.metadata?.name ?? '')
            : []),
        ];
      case 'KubeVirt':
        if (!configurationMatters(change.before, change.after)) return [];
        return [
          limitsMayHaveChanged(),
          ...this.#wake('KubeVirt', (change.after ?? change.before)?.metadata?.name ?? ''),
        ];
      case 'VirtualMachineInstancetype':
      case 'VirtualMachineClusterInstancetype':
      case 'VirtualMachinePreference':
      case 'VirtualMachineClusterPreference': {
        const { kind, after } = change;
        const dependency = { kind, name: after?.metadata?.name ?? '' };
        return waitingFor(kind, change, this.#ports.virtualMachines).map((vm) => ofReference(vm, dependency));
      }
      case 'VirtualMachineInstanceReplicaSet':
        return replicaSetMatters(change) ? subjects(change).map(ofReplicaSet) : [];
      case 'VirtualMachineInstanceMigration':
        return [
          ...subjects(change).flatMap((vmim) => ofMigration(vmim, isGone)),
          ...evacuationsAfterMigration(change, this.#ports).map(ofEvacuation),
        ];
    }
  }

  /** A Pod that has ended frees the run token of its VM for an instance of the same name that came after. */
  #wakeSuccessors(pod: Pod, isGone: boolean): Delivery[] {
    if (!isGone && !podFacts(pod).provenEnded) return [];
    const owner = instanceOf(pod);
    const { name = '', namespace } = pod.metadata ?? {};
    return this.#wake(
      'Pod',
      name,
      namespace,
      ({ metadata }) => metadata?.name === owner?.name && metadata?.uid !== owner?.uid,
    );
  }

  /** Tells every instance that may be waiting for it. */
  #wake(
    kind: string,
    name: string,
    namespace?: string,
    concerns: (vmi: VirtualMachineInstance) => boolean = () => true,
  ): Delivery[] {
    return this.#ports
      .instances()
      .filter((vmi) => namespace === undefined || vmi.metadata?.namespace === namespace)
      .filter((vmi) => WAITING.has(vmi.status?.phase ?? '') && concerns(vmi))
      .map((vmi) => ofDependency(refOf(vmi), dependencyChanged.name, { kind, name }));
  }
}

const subjects = <T>({ before, after }: Change<T>): T[] => [after ?? before].filter((object) => object !== undefined);

/** Nothing can follow: its memory can go. */
const isLast = (delivery: Delivery): boolean =>
  delivery.digest === '' ||
  delivery.digest === 'gone' ||
  (delivery.kind === 'plain' && (delivery.args[0] as { gone?: boolean } | undefined)?.gone === true);
