/* eslint-disable @typescript-eslint/require-await -- activities are asynchronous by contract; these act at once */
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { ControllerActivities, NodeActivities, RunToken } from '../../../api/contract/activities.ts';
import type { PodFacts } from '../../../api/contract/facts.ts';
import type {
  MigrationFacts,
  MigrationReport,
  MigrationVerdict,
  PermitLimits,
  PermitRequest,
} from '../../../api/contract/migrations.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import { migrationId } from '../../../api/contract/refs.ts';
import type { MigrationOptions, MigrationOutcome, MigrationView } from '../../../api/launcher/migration.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import type { MoveDecision } from '../../../activities/controller/token/decide-move.ts';
import { decideMove, decideRecord, decideStay } from '../../../activities/controller/token/decide-move.ts';
import { failure } from '../../../activities/failures.ts';
import type { FakePod, FakeToken, FakeVmi, Manners, News } from './world.ts';

export interface MigrationManners {
  /**
   * What becomes of MigrateVMI. `works`; `fails`: the source keeps the guest; `hangs` until it is cancelled; `unresumed`: the source is gone and the
   * hand-over was lost; `lost`: so is the guest.
   */
  migrates: 'works' | 'fails' | 'hangs' | 'unresumed' | 'lost';
  /** Uids of Pods whose launchers do not answer. */
  silent: string[];
  limits: PermitLimits;
}

export interface FakeVmim {
  facts: MigrationFacts;
  vmi: ObjectRef;
  reports: MigrationReport[];
}

export interface FakeMigrations {
  controller: Pick<
    ControllerActivities,
    | 'admitMigration'
    | 'ensureTargetPod'
    | 'recordMove'
    | 'tokenStays'
    | 'moveToken'
    | 'readToken'
    | 'publishMigration'
    | 'requestPermit'
    | 'returnPermit'
    | 'observePermits'
  >;
  node: Pick<
    NodeActivities,
    | 'inspectMigration'
    | 'prepareMigrationTarget'
    | 'migrateVMI'
    | 'cancelMigration'
    | 'resumeMigrated'
    | 'finalizeMigration'
    | 'abandonMigrationTarget'
    | 'closeMigrationSource'
  >;
  vmims: Map<string, FakeVmim>;
  /** Who has asked for a permit and not returned it. */
  permits: Set<string>;
  /** Set by the test's lab. */
  scheduler: {
    request: (request: PermitRequest) => Promise<void>;
    return: (holder: string) => Promise<void>;
    isRunning: (workflowId: string) => Promise<boolean>;
  };
  /** A user creates a VMIM. */
  create(vmi: ObjectRef, migration: ObjectRef, facts?: Partial<MigrationFacts>): Promise<FakeVmim>;
  /** A user deletes it. */
  delete(uid: string): Promise<void>;
}

interface Inner {
  pods: Map<string, FakePod>;
  tokens: Map<string, FakeToken>;
  vmis: Map<string, FakeVmi>;
  manners: Manners;
  violations: string[];
  refuse: (activity: string) => void;
  podAt: (uid: string) => FakePod;
  setPod: (pod: FakePod, facts: Partial<PodFacts>) => Promise<void>;
  setDomain: (pod: FakePod, change: Partial<DomainReport>) => Promise<void>;
  runToken: (token: FakeToken) => RunToken;
  told: (news: News) => Promise<void>;
  isActive: (pod: FakePod) => boolean;
  startPod: (uid: string) => Promise<void>;
}

/** What a launcher remembers of a migration. */
interface Memory {
  role: MigrationView['role'];
  job: boolean;
  resumed: boolean;
  finalized: boolean;
  outcome?: MigrationOutcome;
}

export const OPTIONS: MigrationOptions = {
  ...{ completionTimeoutPerGiB: 150, progressTimeout: 150, allowAutoConverge: false, allowPostCopy: false },
  ...{ allowWorkloadDisruption: false, unsafe: false },
};

export const targetUid = (migration: Pick<ObjectRef, 'uid'>): string => `target-${migration.uid}`;

/** Simulates VMIMs, permits, and what two launchers do with a migration between them. */
export const newMigrations = (inner: Inner): FakeMigrations => {
  const { pods, tokens, vmis, manners, violations, refuse, podAt, setPod, setDomain, runToken, told, isActive } = inner;
  const vmims = new Map<string, FakeVmim>();
  const permits = new Set<string>();
  const memories = new Map<string, Memory>();
  const nobody = async (): Promise<void> => undefined;

  const vmimAt = ({ uid, name }: ObjectRef): FakeVmim => {
    const vmim = vmims.get(uid);
    if (vmim === undefined) throw failure('ObjectGone', `no VMIM ${name}`);
    return vmim;
  };
  const tokenAt = ({ name }: ObjectRef): FakeToken => {
    const token = tokens.get(name);
    if (token === undefined) throw failure('StaleToken', 'there is no token');
    return token;
  };
  const changeToken = (vmi: ObjectRef, decision: MoveDecision): RunToken => {
    if (decision.kind === 'stale') throw failure('StaleToken', `the token ${decision.why}`);
    if (decision.kind === 'write') tokens.set(vmi.name, decision.token);
    return runToken(tokenAt(vmi));
  };
  const memory = (pod: { uid: string }, migration: ObjectRef): Memory => {
    const key = `${pod.uid}/${migration.uid}`;
    const known = memories.get(key) ?? { role: 'none', job: false, resumed: false, finalized: false };
    memories.set(key, known);
    return known;
  };
  const answering = (pod: PodRef): FakePod => {
    if (manners.silent.includes(pod.uid)) throw failure('LauncherUnreachable', `no answer from Pod ${pod.name}`);
    return podAt(pod.uid);
  };
  const viewOf = (pod: FakePod, migration: ObjectRef): MigrationView => {
    const { state } = pod.domain;
    const domain = isActive(pod) ? 'active' : state === 'incoming' ? 'incoming' : 'none';
    return { migrationUid: migration.uid, domain, postCopy: false, ...memory({ uid: pod.facts.uid }, migration) };
  };
  const verifyMoving = (vmi: ObjectRef, migration: ObjectRef, target: PodRef): void => {
    const { moving, holder } = tokenAt(vmi);
    const isHolder = holder?.pod?.uid === target.uid;
    if (!isHolder && (moving?.migration.uid !== migration.uid || moving.pod.uid !== target.uid))
      throw failure('StaleToken', 'the token does not say that the domain moves there');
  };
  const bar = (source: Memory, cause: 'aborted' | 'never', message: string): void => {
    Object.assign(source, { role: 'source', job: false, outcome: { kind: 'sourceActive', cause, message } });
  };
  const leave = async (target: PodRef): Promise<void> => {
    const pod = pods.get(target.uid);
    if (pod?.domain.state === 'incoming') await setDomain(pod, { state: 'none' });
  };

  const controller: FakeMigrations['controller'] = {
    admitMigration: async ({ vmi, migration }) => {
      const vmim = vmimAt(migration);
      const { phase } = vmim.facts;
      if (phase === '' || phase === 'Pending') {
        refuse('admitMigration');
        if (!vmis.has(vmi.uid)) throw failure('NotMigratable', `VMI ${vmi.name} does not exist`);
      }
      vmim.facts.finalizers = vmim.facts.deleting ? vmim.facts.finalizers : ['virtflow'];
      const timeouts = { unschedulable: 300, pending: 900 };
      return { facts: vmim.facts, options: OPTIONS, priority: Number(vmim.facts.priority ?? 0), timeouts };
    },
    ensureTargetPod: async ({ vmi, migration, source, epoch }) => {
      refuse('ensureTargetPod');
      vmimAt(migration);
      const token = tokenAt(vmi);
      if (token.epoch !== epoch || token.holder?.pod?.uid !== source.uid)
        throw failure('StaleToken', `not at epoch ${epoch}`);
      const uid = targetUid(migration);
      const existing = pods.get(uid);
      if (existing !== undefined) return { ...existing.facts };
      const { name } = migration;
      const pod: FakePod = {
        attempt: 0,
        facts: {
          ...{ name: `virt-launcher-${uid}`, uid, resourceVersion: '1', createdBy: vmi.uid, phase: 'Pending' },
          ...{ deleting: false, computeReady: false, provenEnded: false, migration: { name, uid: migration.uid } },
        },
        domain: {
          ...{ vmi, podUid: uid, node: '', sequence: { epoch: 1, n: 1 }, at: new Date(0).toISOString() },
          ...{ state: 'none', agent: { connected: false } },
        },
      };
      const { kubelet } = manners;
      pods.set(uid, pod);
      const created = { ...pod.facts };
      await told({ kind: 'pod', facts: created });
      if (kubelet === 'prompt') await inner.startPod(uid);
      return created;
    },
    recordMove: async (request) => {
      refuse('recordMove');
      return changeToken(request.vmi, decideRecord(tokenAt(request.vmi), request));
    },
    tokenStays: async (request) => {
      refuse('tokenStays');
      const target = pods.get(targetUid(request.migration));
      if (target !== undefined && isActive(target)) violations.push('the token stays although the target runs');
      return changeToken(request.vmi, decideStay(tokenAt(request.vmi), request));
    },
    moveToken: async (request) => {
      refuse('moveToken');
      const others = [...pods.values()].filter(
        ({ facts }) => facts.createdBy === request.vmi.uid && facts.uid !== request.target.uid,
      );
      if (others.some(isActive)) violations.push('the token moves although the source runs');
      return changeToken(request.vmi, decideMove(tokenAt(request.vmi), request));
    },
    readToken: async (vmi) => {
      const token = tokens.get(vmi.name);
      return token === undefined ? undefined : runToken(token);
    },
    publishMigration: async (report) => {
      const vmim = vmims.get(report.migration.uid);
      if (vmim === undefined) return;
      const wasFinal = ['Succeeded', 'Failed'].includes(vmim.facts.phase);
      if (wasFinal && vmim.facts.phase !== report.phase) return;
      vmim.reports.push(report);
      vmim.facts.phase = report.phase;
      if (report.phase !== 'Succeeded' && report.phase !== 'Failed') return;
      vmim.facts.finalizers = [];
      if (!vmim.facts.deleting) return;
      vmims.delete(report.migration.uid);
      await told({ kind: 'vmim', vmi: vmim.vmi, facts: { ...vmim.facts, gone: true } });
    },
    requestPermit: async (request) => {
      refuse('requestPermit');
      permits.add(request.holder);
      await migrations.scheduler.request(request);
    },
    returnPermit: async ({ holder }) => {
      refuse('returnPermit');
      const isJobOf = ([key, { job }]: [string, Memory]): boolean => job && holder.endsWith(key.split('/')[1] ?? '');
      if ([...memories].some(isJobOf)) violations.push('a permit came back while its migration runs');
      permits.delete(holder);
      await migrations.scheduler.return(holder);
    },
    observePermits: async ({ holders }) => {
      const isFinal = ({ facts }: FakeVmim): boolean => ['Succeeded', 'Failed'].includes(facts.phase);
      const all = [...vmims.values()].filter((vmim) => !['', 'Pending'].includes(vmim.facts.phase) && !isFinal(vmim));
      const known = await Promise.all(
        (holders ?? all.map(({ facts }) => migrationId(facts.migration))).map(async (holder) => {
          const vmim = [...vmims.values()].find(({ facts }) => migrationId(facts.migration) === holder);
          const isOver = vmim === undefined || isFinal(vmim);
          const over = isOver && !(await migrations.scheduler.isRunning(holder));
          const migration = vmim?.facts.migration ?? { namespace: '', name: '', uid: '' };
          return { holder, migration, sourceNode: vmim?.reports.at(-1)?.source?.node ?? '', over };
        }),
      );
      return { limits: manners.limits, holders: known };
    },
  };

  const node: FakeMigrations['node'] = {
    inspectMigration: async ({ pod, migration }) => {
      refuse('inspectMigration');
      return { ...viewOf(answering(pod), migration), copiedDisks: [{ volume: 'root', size: 1 << 20 }] };
    },
    prepareMigrationTarget: async ({ vmi, pod, migration, epoch, source }) => {
      refuse('prepareMigrationTarget');
      const { epoch: current, holder } = tokenAt(vmi);
      if (current !== epoch || holder?.pod?.uid !== source.uid) throw failure('StaleToken', `not at epoch ${epoch}`);
      const found = answering(pod);
      if (found.facts.deleting) throw failure('PodFailed', `Pod ${pod.name} is terminating`);
      memory(pod, migration).role = 'target';
      const sockets = { libvirt: '/l', memory: '/m', block: '/b' };
      const host = {} as never;
      return { node: pod.node, address: '192.0.2.1', port: 9810, sockets, host };
    },
    migrateVMI: async ({ vmi, pod, target, migration }) => {
      refuse('migrateVMI');
      const source = answering(pod);
      const mine = memory(pod, migration);
      verifyMoving(vmi, migration, target);
      if (mine.outcome === undefined && !mine.job) {
        const into = pods.get(target.uid);
        const isPrepared = into !== undefined && memory(target, migration).role === 'target';
        if (!isPrepared) throw failure('PeerUnreachable', 'the target is not prepared');
        Object.assign(mine, { role: 'source', job: true });
        await setDomain(into, { state: 'incoming', migrationUid: migration.uid });
        // libvirt goes on, whoever has asked for it.
        void carryOut(source, target, migration, mine);
      }
      await untilJobEnds(mine);
      await handOver(mine, target, migration);
      return verdictOf(mine, target, migration);
    },
    cancelMigration: async ({ pod, migration }) => {
      refuse('cancelMigration');
      const source = answering(pod);
      const mine = memory(pod, migration);
      if (mine.job) {
        bar(mine, 'aborted', 'the migration was cancelled');
        await leave({ name: '', uid: targetUid(migration) });
      } else if (!mine.job && mine.outcome === undefined && isActive(source)) bar(mine, 'never', 'it never began');
      return viewOf(source, migration);
    },
    resumeMigrated: async ({ vmi, pod, migration }) => {
      refuse('resumeMigrated');
      const found = answering(pod);
      verifyMoving(vmi, migration, pod);
      if (found.domain.state === 'incoming') {
        memory(pod, migration).resumed = true;
        await setDomain(found, { state: 'running', migrationUid: migration.uid });
      }
      return viewOf(found, migration);
    },
    finalizeMigration: async ({ vmi, pod, migration, epoch }) => {
      refuse('finalizeMigration');
      const found = answering(pod);
      verifyMoving(vmi, migration, pod);
      if (!memory(pod, migration).resumed) throw failure('DomainFailed', 'the guest was not resumed here');
      memory(pod, migration).finalized = true;
      if (found.domain.tokenEpoch !== epoch) await setDomain(found, { tokenEpoch: epoch });
      return found.domain;
    },
    abandonMigrationTarget: async ({ pod, migration }) => {
      refuse('abandonMigrationTarget');
      const found = answering(pod);
      if (isActive(found)) throw failure('StillRunning', `Pod ${pod.name} runs the guest`);
      const source = [...pods.values()].some((one) => one.facts.uid !== pod.uid && isActive(one));
      if (found.domain.state === 'incoming' && !source) violations.push('the last copy of a guest was destroyed');
      await leave(pod);
      return viewOf(found, migration);
    },
    closeMigrationSource: async () => refuse('closeMigrationSource'),
  };

  const isSlow = (): boolean => manners.migrates === 'hangs';
  const untilJobEnds = async (mine: Memory): Promise<void> => {
    while (mine.job) {
      heartbeat();
      cancellationSignal().throwIfAborted();
      await delay(10);
    }
  };
  /** What libvirt and the source's launcher make of it. */
  const carryOut = async (source: FakePod, target: PodRef, migration: ObjectRef, mine: Memory): Promise<void> => {
    while (isSlow() && mine.job) await delay(10, undefined, { ref: false });
    if (!mine.job) return;
    const into = pods.get(target.uid);
    if (manners.migrates === 'fails' || into?.domain.state !== 'incoming') {
      mine.outcome = { kind: 'sourceActive', cause: 'failed', message: 'the connection to the target broke' };
      mine.job = false;
      return leave(target);
    }
    // The switch is one moment: nobody sees a part of it.
    mine.outcome = { kind: 'sourceGone' };
    mine.job = false;
    const left = { state: 'shutoff', end: 'migrated', migrationUid: migration.uid } as const;
    await Promise.all([setDomain(source, left), ...(manners.migrates === 'lost' ? [leave(target)] : [])]);
  };
  /** The source's node worker tells the target's. */
  const handOver = async (mine: Memory, target: PodRef, migration: ObjectRef): Promise<void> => {
    const into = pods.get(target.uid);
    if (mine.outcome?.kind !== 'sourceGone' || manners.migrates !== 'works') return;
    if (into?.domain.state !== 'incoming') return;
    memory(target, migration).resumed = true;
    await setDomain(into, { state: 'running', migrationUid: migration.uid });
  };
  const verdictOf = ({ outcome }: Memory, target: PodRef, migration: ObjectRef): MigrationVerdict => {
    if (outcome?.kind === 'sourceActive') return { ...outcome, kind: 'stayed' };
    if (!memory(target, migration).resumed) throw failure('PeerUnreachable', 'the hand-over was lost');
    return { kind: 'moved', resumedAt: new Date(0).toISOString() };
  };

  const migrations: FakeMigrations = {
    ...{ controller, node, vmims, permits },
    scheduler: { request: nobody, return: nobody, isRunning: async () => false },
    create: async (vmi, migration, facts) => {
      const vmim: FakeVmim = {
        ...{ vmi, reports: [] },
        facts: {
          ...{ migration, resourceVersion: '1', vmiName: vmi.name, phase: '', deleting: false, finalizers: [] },
          ...facts,
        },
      };
      vmims.set(migration.uid, vmim);
      await told({ kind: 'vmim', vmi, facts: vmim.facts });
      return vmim;
    },
    delete: async (uid) => {
      const vmim = vmims.get(uid);
      if (vmim === undefined) return;
      vmim.facts.deleting = true;
      if (vmim.facts.finalizers.length === 0) vmims.delete(uid);
      await told({
        ...{ kind: 'vmim', vmi: vmim.vmi },
        facts: { ...vmim.facts, ...(vmims.has(uid) ? {} : { gone: true }) },
      });
    },
  };
  void setPod;
  return migrations;
};
