/* eslint-disable @typescript-eslint/require-await -- activities are asynchronous by contract; these act at once */
import type {
  ControllerActivities,
  DataVolumesState,
  GoneEvidence,
  InstanceReport,
  NodeActivities,
  RunToken,
  VirtualMachineReport,
} from '../../../api/contract/activities.ts';
import type { InstanceFacts, PodFacts, VirtualMachineFacts } from '../../../api/contract/facts.ts';
import type { FailureType } from '../../../api/contract/failures.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import type { DomainEnd, DomainReport } from '../../../api/launcher/reports.ts';
import type { NodeReport } from '../../../api/contract/nodes.ts';
import type { PermitLimits } from '../../../api/contract/migrations.ts';
import type { MigrationFacts } from '../../../api/contract/migrations.ts';
import { failure } from '../../../activities/failures.ts';
import { printedStatus } from './printed-status.ts';
import type { FakeMigrations, MigrationManners } from './migrations.ts';
import { newMigrations } from './migrations.ts';
import type { FakeEvacuation } from './evacuation.ts';
import { newEvacuation } from './evacuation.ts';
import type { FakeReplicaSet } from './replica-sets.ts';
import { newReplicaSet } from './replica-sets.ts';
import type { FakeNodes } from './nodes.ts';
import type { FakeTriggers } from './triggers.ts';
import { newTriggers } from './triggers.ts';
import { newNodes } from './nodes.ts';

/** A simulated cluster for workflow tests: objects, Pods, tokens and domains, with the activities that act on them. */
export interface World {
  controller: ControllerActivities;
  node: NodeActivities;
  vmis: Map<string, FakeVmi>;
  vms: Map<string, FakeVm>;
  pods: Map<string, FakePod>;
  /** By VM name. */
  tokens: Map<string, FakeToken>;
  /** Broken safety rules; stays empty. */
  violations: string[];
  manners: Manners;
  migrations: FakeMigrations;
  nodes: FakeNodes;
  triggers: FakeTriggers;
  evacuation: FakeEvacuation;
  replicaSet: FakeReplicaSet;
  /** What the bridge and the node workers tell; set by the test. */
  tell: (news: News) => Promise<void>;
  tellVm: (uid: string) => Promise<void>;
  createVmi(vmi: ObjectRef, facts?: Partial<InstanceFacts>): FakeVmi;
  /** The kubelet schedules the Pod and starts its containers. */
  startPod(uid: string): Promise<void>;
  /** The kubelet or the scheduler says something of a Pod. */
  changePod(uid: string, facts: Partial<PodFacts>): Promise<void>;
  /** The guest ends by itself. */
  endGuest(podUid: string, end: DomainEnd): Promise<void>;
  /** The kubelet ends the Pod as after a deletion, or because its container ended. */
  endPod(uid: string): Promise<void>;
  /** A user deletes the VMI, maybe again with a shorter grace period. */
  deleteVmi(uid: string, gracePeriodSeconds?: number): Promise<void>;
  /** Pods, token or domain of a VMI that are left. */
  leftovers(vmi: ObjectRef): string[];
}

export type News =
  /** `isExpected`: the bridge waits before it tells an entity that a start goes well. */
  | { kind: 'pod'; facts: PodFacts; isExpected?: true }
  | { kind: 'domain'; report: DomainReport }
  | { kind: 'vmi'; facts: InstanceFacts }
  | { kind: 'node'; report: NodeReport; vmi: ObjectRef }
  | { kind: 'vmim'; facts: MigrationFacts; vmi: ObjectRef };

export interface Manners extends MigrationManners {
  /** 'prompt' starts a Pod as soon as it is created and ends it as soon as it is deleted; 'slow' leaves both to the test. */
  kubelet: 'prompt' | 'slow';
  /** What the guest does with a shutdown signal. */
  guest: 'obeys' | 'ignores';
  /** Who signals a guest that stops at once also proves that nothing is left of it. */
  provesAtOnce?: boolean;
  /** The first failure of an activity is this one, until it is removed. */
  refuse: Partial<Record<string, { type: FailureType; message: string }>>;
  /** Where the scheduler puts Pods. */
  node: string;
  /** How far the DataVolumes of a VM's templates are. */
  dataVolumes: DataVolumesState;
  /** State in which syncInstance leaves the domain. */
  startsAs: 'running' | 'starting';
}

export interface FakeVmi {
  facts: InstanceFacts;
  reports: InstanceReport[];
}

export interface FakeVm {
  requests: { action: string; uid?: string; data?: Record<string, string> }[];
  reports: VirtualMachineReport[];
  /** printableStatus as published, with the instance as it then was. */
  words: string[];
  /** How often an activity ran for the VM, by name. */
  calls: Record<string, number>;
  released: boolean;
  /** As the API server has it; requests stand apart. */
  facts: VirtualMachineFacts;
  version: number;
}

/** The VM as it is now; what is told later has a later resourceVersion. */
export const factsOf = (vm: FakeVm): VirtualMachineFacts => {
  vm.version += 1;
  return structuredClone({ ...vm.facts, resourceVersion: String(vm.version), stateChangeRequests: vm.requests });
};

export interface FakePod {
  facts: PodFacts;
  domain: DomainReport;
  attempt: number;
  /** Its launcher answers, although its status does not say so yet. */
  answers?: true;
}

export interface FakeToken {
  epoch: number;
  holder?: { vmiUid: string; attempt: number; pod?: PodRef };
  moving?: { migration: { name: string; uid: string }; pod: Required<PodRef> };
  settled?: string;
}

export const NODE = 'node-a';
/** Where the scheduler puts a migration's target. */
export const TARGET_NODE = 'node-c';
const ACTIVE: DomainReport['state'][] = ['starting', 'running', 'paused', 'shuttingDown'];
export const isActive = ({ domain }: FakePod): boolean => ACTIVE.includes(domain.state);

export const newWorld = (): World => {
  const vmis = new Map<string, FakeVmi>();
  const vms = new Map<string, FakeVm>();
  const pods = new Map<string, FakePod>();
  const tokens = new Map<string, FakeToken>();
  const violations: string[] = [];
  const limits: PermitLimits = { perCluster: 5, outboundPerNode: 2 };
  const manners: Manners = {
    ...{ kubelet: 'prompt', guest: 'obeys', refuse: {}, node: NODE, startsAs: 'running', dataVolumes: 'ready' },
    ...{ migrates: 'works', silent: [], limits },
  };
  let version = 0;
  let created = 0;

  const podsOf = (vmi: ObjectRef): FakePod[] => [...pods.values()].filter(({ facts }) => facts.createdBy === vmi.uid);
  const podAt = (uid: string): FakePod => {
    const pod = pods.get(uid);
    if (pod === undefined) throw failure('LauncherUnreachable', `no Pod ${uid}`);
    return pod;
  };
  const told = async (news: News): Promise<void> => world.tell(structuredClone(news));
  const setPod = (pod: FakePod, facts: Partial<PodFacts>): Promise<void> => {
    version += 1;
    pod.facts = { ...pod.facts, ...facts, resourceVersion: String(version) };
    return told({ kind: 'pod', facts: pod.facts });
  };
  const turnDomain = (pod: FakePod, change: Partial<DomainReport>): void => {
    const { epoch, n } = pod.domain.sequence;
    pod.domain = { ...pod.domain, ...change, sequence: { epoch, n: n + 1 } };
    checkOneDomain(pod.domain.vmi.name);
  };
  const setDomain = (pod: FakePod, change: Partial<DomainReport>): Promise<void> => {
    turnDomain(pod, change);
    return told({ kind: 'domain', report: pod.domain });
  };
  const placePod = (pod: FakePod): void => {
    const node = pod.facts.migration === undefined ? manners.node : TARGET_NODE;
    pod.domain = { ...pod.domain, node };
    pod.facts = { ...pod.facts, node, phase: 'Running', computeReady: true };
  };
  const checkOneDomain = (name: string): void => {
    const active = [...pods.values()].filter((pod) => pod.domain.vmi.name === name && isActive(pod));
    if (active.length > 1) violations.push(`${active.length} active domains of ${name}`);
  };
  const setVmi = (vmi: FakeVmi, facts: Partial<InstanceFacts>): Promise<void> => {
    version += 1;
    vmi.facts = { ...vmi.facts, ...facts, resourceVersion: String(version) };
    return told({ kind: 'vmi', facts: vmi.facts });
  };
  const gonePod = (vmi: ObjectRef, pod: PodRef): PodFacts => ({
    ...{ ...pod, resourceVersion: '', createdBy: vmi.uid, phase: 'Unknown' },
    ...{ deleting: true, computeReady: false, provenEnded: false, gone: true },
  });
  const vmiAt = (ref: ObjectRef): FakeVmi => {
    const vmi = vmis.get(ref.uid);
    if (vmi === undefined) throw failure('ObjectGone', `no VMI ${ref.name}`);
    return vmi;
  };
  const tokenOf = (vmi: ObjectRef): FakeToken => {
    const token = tokens.get(vmi.name) ?? { epoch: 0 };
    tokens.set(vmi.name, token);
    return token;
  };
  const runToken = ({ epoch, holder, moving }: FakeToken): RunToken => ({
    epoch,
    ...(moving === undefined
      ? {}
      : {
          moving: {
            migration: moving.migration,
            ...{ podUid: moving.pod.uid, podName: moving.pod.name, node: moving.pod.node },
          },
        }),
    ...(holder === undefined
      ? {}
      : {
          holder: {
            ...{ vmiUid: holder.vmiUid, attempt: holder.attempt },
            ...(holder.pod === undefined ? {} : { podUid: holder.pod.uid, podName: holder.pod.name }),
            ...(holder.pod?.node === undefined ? {} : { node: holder.pod.node }),
          },
        }),
  });
  const refuse = (activity: string): void => {
    const refusal = manners.refuse[activity];
    if (refusal !== undefined) throw failure(refusal.type, refusal.message);
  };

  /** The launcher, asked by its node worker or by the end of its Pod. */
  const signalGuest = async (pod: FakePod, deadline: string | undefined): Promise<void> => {
    if (!isActive(pod)) return;
    if (manners.guest === 'obeys') return setDomain(pod, { state: 'shutoff', end: 'acpiShutdown' });
    await setDomain(pod, { state: 'shuttingDown', ...(deadline === undefined ? {} : { deadline }) });
  };

  const nodes = newNodes({ pods, vmis, refuse, told });
  const triggers = newTriggers(() => world, refuse);
  const evacuation = newEvacuation({ refuse });
  const replicaSet = newReplicaSet({ refuse });
  const migrations = newMigrations({
    ...{ pods, tokens, vmis, manners, violations, refuse, podAt, setPod, setDomain, runToken, told, isActive },
    startPod: (uid) => world.startPod(uid),
  });

  const instanceOf = (vm: ObjectRef): InstanceFacts | undefined =>
    [...vmis.values()].find(({ facts }) => facts.owner?.uid === vm.uid)?.facts;
  const vmAt = (ref: ObjectRef): FakeVm => {
    const vm = vms.get(ref.uid);
    if (vm === undefined) throw failure('ObjectGone', `no VM ${ref.name}`);
    return vm;
  };
  /** What an entity without history reads in the VM's status. */
  const withStatus = (
    { startFailure: _, ...facts }: VirtualMachineFacts,
    { runStrategy, startFailure: failure }: VirtualMachineReport,
  ): VirtualMachineFacts => ({
    ...facts,
    ...(runStrategy === undefined ? {} : { ranUnder: runStrategy }),
    ...(failure === undefined
      ? {}
      : {
          startFailure: {
            ...{ count: failure.consecutiveFailCount, uid: failure.lastFailedVMIUID },
            retryAt: failure.retryAfterTimestamp,
          },
        }),
  });
  const count = (vm: ObjectRef, activity: string): void => {
    const found = vms.get(vm.uid);
    if (found !== undefined) found.calls[activity] = (found.calls[activity] ?? 0) + 1;
  };

  const controller: ControllerActivities = {
    ...migrations.controller,
    ...nodes.controller,
    ...evacuation.controller,
    ...replicaSet.controller,
    adoptInstance: async (vmi) => {
      const instance = vmis.get(vmi.uid)?.facts;
      const token = tokens.get(vmi.name);
      return {
        ...(instance === undefined ? {} : { instance }),
        ...(token === undefined ? {} : { token: runToken(token) }),
        pods: podsOf(vmi).map(({ facts }) => facts),
      };
    },
    admitInstance: async (vmi) => {
      refuse('admitInstance');
      const found = vmiAt(vmi);
      found.facts.finalizers = ['virtflow'];
      return found.facts;
    },
    checkVolumes: async () => refuse('checkVolumes'),
    acquireToken: async ({ vmi, attempt }) => {
      refuse('acquireToken');
      const token = tokenOf(vmi);
      const { holder } = token;
      if (holder?.vmiUid === vmi.uid && holder.attempt === attempt) return runToken(token);
      if (holder?.pod !== undefined) throw failure('TokenHeld', `Pod ${holder.pod.name} holds the token`);
      Object.assign(token, { epoch: token.epoch + 1, holder: { vmiUid: vmi.uid, attempt } });
      return runToken(token);
    },
    ensureLauncherPod: async ({ vmi, attempt, epoch }) => {
      refuse('ensureLauncherPod');
      const token = tokenOf(vmi);
      if (token.epoch !== epoch || token.holder?.vmiUid !== vmi.uid)
        throw failure('StaleToken', `not at epoch ${epoch}`);
      const uid = `pod-${vmi.uid}-${attempt}`;
      const existing = pods.get(uid);
      if (existing !== undefined) return existing.facts;
      const pod: FakePod = {
        attempt,
        facts: {
          ...{ name: `virt-launcher-${uid}`, uid, resourceVersion: '1', createdBy: vmi.uid, attempt, phase: 'Pending' },
          ...{ deleting: false, computeReady: false, provenEnded: false },
        },
        domain: {
          ...{ vmi, podUid: uid, node: NODE, sequence: { epoch: 1, n: 1 }, at: new Date(0).toISOString() },
          ...{ state: 'none', agent: { connected: false } },
        },
      };
      // A kubelet that is prompt from now on has no part in it: who waits for the Pod may see it before this goes on.
      const { kubelet } = manners;
      pods.set(uid, pod);
      const created = { ...pod.facts };
      await told({ kind: 'pod', facts: created });
      if (kubelet !== 'prompt') return created;
      placePod(pod);
      await told({ kind: 'pod', facts: pod.facts, isExpected: true });
      return { ...created, node: manners.node };
    },
    bindToken: async ({ vmi, epoch, pod }) => {
      refuse('bindToken');
      const token = tokenOf(vmi);
      if (token.epoch !== epoch || token.holder?.vmiUid !== vmi.uid)
        throw failure('StaleToken', `not at epoch ${epoch}`);
      token.holder.pod = pod;
      return runToken(token);
    },
    releaseToken: async ({ vmi, epoch }) => {
      refuse('releaseToken');
      const token = tokenOf(vmi);
      if (token.holder?.vmiUid !== vmi.uid || (epoch !== undefined && token.epoch !== epoch)) return;
      if (podsOf(vmi).some(isActive)) violations.push('token released with an active domain');
      if (token.moving !== undefined) violations.push('token released while a migration moves it');
      delete token.holder;
    },
    observePod: async ({ vmi, pod, evidence }) => {
      const found = pods.get(pod.uid)?.facts ?? gonePod(vmi, pod);
      const isFenced = evidence === true && nodes.isFenced(found.node ?? pod.node);
      return isFenced ? { ...found, fenced: `node ${found.node ?? pod.node} is fenced` } : found;
    },
    deletePod: async ({ vmi, pod, holdsNoGuest = false }) => {
      refuse('deletePod');
      const found = pods.get(pod.uid);
      if (found === undefined) return gonePod(vmi, pod);
      if (holdsNoGuest && isActive(found)) violations.push('a Pod with a guest deleted without its grace period');
      // Forced: no kubelet is there to say anything.
      if (found.facts.deleting && nodes.isFenced(found.facts.node)) {
        pods.delete(pod.uid);
        await told({ kind: 'pod', facts: { ...found.facts, gone: true } });
      } else if (!found.facts.deleting) {
        await setPod(found, { deleting: true });
        if (nodes.isOff(found.facts.node)) return found.facts;
        await signalGuest(found, undefined);
        if (manners.kubelet === 'prompt' && !isActive(found)) await world.endPod(pod.uid);
      }
      return pods.get(pod.uid)?.facts ?? gonePod(vmi, pod);
    },
    publishInstance: async ({ vmi, report }) => {
      const found = vmis.get(vmi.uid);
      if (found === undefined) return;
      found.reports.push(report);
      const ready = report.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
      const ran = found.facts.ran === true || report.phase === 'Running';
      delete found.facts.untouched;
      await setVmi(found, { phase: report.phase, ready, ...(ran ? { ran } : {}) });
    },
    releaseInstance: async ({ vmi, report }) => {
      const found = vmis.get(vmi.uid);
      if (found === undefined) return;
      if (report !== undefined) await controller.publishInstance({ vmi, report });
      if (podsOf(vmi).length > 0) violations.push('VMI released with a Pod left');
      vmis.delete(vmi.uid);
      await told({ kind: 'vmi', facts: { ...found.facts, finalizers: [], gone: true } });
    },

    adoptVirtualMachine: async (vm) => {
      count(vm, 'adoptVirtualMachine');
      return instanceOf(vm);
    },
    createInstance: async ({ vm, paused, report }) => {
      count(vm, 'createInstance');
      refuse('createInstance');
      const existing = [...vmis.values()].find(({ facts }) => facts.vmi.name === vm.name);
      if (existing !== undefined) return existing.facts;
      created += 1;
      const vmi = world.createVmi(
        { ...vm, uid: `vmi-of-${vm.uid}-${created}` },
        {
          ...{ phase: 'Pending', owner: { name: vm.name, uid: vm.uid } },
          ...(paused === true ? { startPaused: true } : {}),
        },
      );
      await told({ kind: 'vmi', facts: vmi.facts });
      const found = vms.get(vm.uid);
      if (report === undefined || found === undefined) return vmi.facts;
      await controller.publishVirtualMachine({ vm, report: { ...report, instance: vmi.facts.vmi.uid } });
      return { ...vmi.facts, isShown: true };
    },
    deleteInstance: async ({ vmi, gracePeriodSeconds }) => {
      refuse('deleteInstance');
      const found = vmis.get(vmi.uid);
      await world.deleteVmi(vmi.uid, gracePeriodSeconds);
      const left = vmis.get(vmi.uid)?.facts;
      if (left !== undefined) return left;
      return { ...(found?.facts ?? goneVmi(vmi)), gone: true };
    },
    switchOn: async (vm) => {
      const found = vmAt(vm);
      found.facts = { ...found.facts, runStrategy: 'Always', generation: found.facts.generation + 1 };
      return factsOf(found);
    },
    queueStart: async (vm) => {
      const found = vmAt(vm);
      if (!found.requests.some(({ action }) => action === 'Start')) found.requests.push({ action: 'Start' });
      return factsOf(found);
    },
    ensureDataVolumes: async () => {
      refuse('ensureDataVolumes');
      return { state: manners.dataVolumes };
    },
    publishVirtualMachine: async ({ vm, report }) => {
      count(vm, 'publishVirtualMachine');
      const found = vms.get(vm.uid);
      if (found === undefined) return undefined;
      found.reports.push(report);
      found.words.push(printedStatus(found.facts, instanceOf(vm), report));
      found.facts = withStatus(found.facts, report);
      const shown = found.requests.length;
      for (const { action, uid } of report.settledRequests) {
        const head = found.requests[0];
        if (head?.action === action && head.uid === uid) found.requests.shift();
      }
      // Nothing else that is written here is news for anybody.
      if (found.requests.length < shown) await world.tellVm(vm.uid);
      return factsOf(found);
    },
    ...triggers.controller,
    releaseVirtualMachine: async (vm) => {
      const found = vms.get(vm.uid);
      if (found !== undefined) found.released = true;
    },
  };

  const goneVmi = (vmi: ObjectRef): InstanceFacts => ({
    ...{ vmi, resourceVersion: '', phase: '', deleting: true, gracePeriodSeconds: 30, finalizers: [] },
    ...{ ready: false, paused: false, gone: true },
  });

  const node: NodeActivities = {
    ...migrations.node,
    ...nodes.node,
    syncInstance: async ({ vmi, pod, epoch, paused }) => {
      refuse('syncInstance');
      const token = tokenOf(vmi);
      if (token.epoch !== epoch || token.holder?.pod?.uid !== pod.uid)
        throw failure('StaleToken', `not at epoch ${epoch}`);
      const found = podAt(pod.uid);
      if (found.facts.deleting) throw failure('PodFailed', `Pod ${pod.name} is terminating`);
      const isUp = found.facts.computeReady || found.answers === true;
      if (!isUp) throw failure('PodNotReady', `container compute of Pod ${pod.name} does not run after 60 s`);
      if (!isActive(found)) {
        // Told by the answer.
        turnDomain(found, { state: paused === true ? 'paused' : manners.startsAs, tokenEpoch: epoch });
      }
      return found.domain;
    },
    shutdownDomain: async ({ pod, deadline }) => {
      refuse('shutdownDomain');
      const found = podAt(pod.uid);
      await signalGuest(found, deadline);
      if (manners.provesAtOnce !== true || isActive(found)) return found.domain;
      return { ...found.domain, gone: { by: 'launcher', detail: 'the launcher says shutoff' } };
    },
    destroyDomain: async ({ pod }) => {
      refuse('destroyDomain');
      const found = podAt(pod.uid);
      if (isActive(found)) await setDomain(found, { state: 'shutoff', end: 'killed' });
      return found.domain;
    },
    proveDomainGone: async ({ pod }): Promise<GoneEvidence> => {
      refuse('proveDomainGone');
      if (manners.silent.includes(pod.uid)) throw failure('Unproven', `nobody answers for Pod ${pod.name}`);
      const found = pods.get(pod.uid);
      if (found === undefined) return { by: 'nodeWorker', detail: 'no process in the cgroup of the Pod' };
      if (isActive(found) || found.domain.state === 'incoming') {
        throw failure('StillRunning', `the domain is ${found.domain.state}`);
      }
      return { by: 'launcher', detail: 'no domain', lastReport: found.domain };
    },
    inspectDomain: async ({ pod }) => {
      refuse('inspectDomain');
      return podAt(pod.uid).domain;
    },
  };

  const world: World = {
    ...{ controller, node, vmis, vms, pods, tokens, violations, manners, migrations, nodes, evacuation },
    ...{ replicaSet, triggers },
    tell: async () => undefined,
    tellVm: async () => undefined,
    createVmi: (vmi, facts) => {
      const fake: FakeVmi = {
        facts: {
          ...{ vmi, resourceVersion: '1', phase: 'Pending', deleting: false, gracePeriodSeconds: 30, finalizers: [] },
          ...{ ready: false, paused: false, untouched: true, ...facts },
        },
        reports: [],
      };
      vmis.set(vmi.uid, fake);
      return fake;
    },
    startPod: async (uid) => {
      const pod = podAt(uid);
      placePod(pod);
      await setPod(pod, {});
    },
    changePod: async (uid, facts) => setPod(podAt(uid), facts),
    endGuest: async (podUid, end) => {
      const pod = podAt(podUid);
      await setDomain(pod, { state: end === 'crashed' ? 'crashed' : 'shutoff', end });
    },
    endPod: async (uid) => {
      const pod = podAt(uid);
      const isOver = isActive(pod) || pod.domain.state === 'incoming';
      pod.domain = { ...pod.domain, state: isOver ? 'shutoff' : pod.domain.state };
      await setPod(pod, { phase: 'Succeeded', computeReady: false, provenEnded: true, exitCode: 0 });
      if (!pod.facts.deleting) return;
      pods.delete(uid);
      await told({ kind: 'pod', facts: { ...pod.facts, gone: true } });
    },
    deleteVmi: async (uid, gracePeriodSeconds) => {
      const vmi = vmis.get(uid);
      if (vmi === undefined) return;
      const grace = gracePeriodSeconds ?? vmi.facts.gracePeriodSeconds;
      const gone = vmi.facts.finalizers.length === 0 && podsOf(vmi.facts.vmi).length === 0;
      await setVmi(vmi, { deleting: true, gracePeriodSeconds: grace });
      if (!gone) return;
      vmis.delete(uid);
      await told({ kind: 'vmi', facts: { ...vmi.facts, gone: true } });
    },
    leftovers: (vmi) => [
      ...podsOf(vmi).map(({ facts, domain }) => `Pod ${facts.uid}, domain ${domain.state}`),
      ...(tokens.get(vmi.name)?.holder === undefined ? [] : ['token']),
      ...(tokens.get(vmi.name)?.moving === undefined ? [] : ['moving']),
      ...[...migrations.permits].map((holder) => `permit of ${holder}`),
    ],
  };
  return world;
};
