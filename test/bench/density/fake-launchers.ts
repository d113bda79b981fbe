import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { CREATED_BY_LABEL } from '../../../activities/facts/labels.ts';
import { failure } from '../../../activities/failures.ts';
import { LAUNCHER_WAIT_MS } from '../../../activities/node/prepare-launcher.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { holdBack } from '../../../workers/node/launchers/hold-back.ts';

/** What a guest without an agent takes to power off, in ms. */
const GUEST_STOPS_MS = 50;

/** Launchers that have no libvirt: each says what a real one would, in the same order. */
export interface FakeLaunchers {
  /** The launcher of a Pod whose containers run: says, once, that it has no domain, unless somebody waits for it anyway. */
  ready(pod: Pod): void;
  gone(podUid: string): void;
  /** As soon as the launcher is ready. @throws LauncherUnreachable when that takes too long */
  sync(podUid: string, tokenEpoch: number): Promise<DomainReport>;
  /** The guest is signalled, and stops soon after, which is waited for. */
  shutdown(podUid: string, deadline: string): Promise<DomainReport>;
  kill(podUid: string): DomainReport;
  get(podUid: string): DomainReport;
}

/** @param tell told of every change, as the subscribers of a launcher's events are */
export const fakeLaunchers = (tell: (report: DomainReport) => void): FakeLaunchers => {
  const answers = new Map<string, Promise<DomainReport | undefined>>();
  const report = holdBack({ offer: tell, answer: (podUid) => answers.get(podUid) });
  const reports = new Map<string, DomainReport>();
  const awaited = new Map<string, EventEmitter>();
  const current = (podUid: string): DomainReport => {
    const known = reports.get(podUid);
    if (known === undefined) throw failure('LauncherUnreachable', `no launcher answers for Pod ${podUid}`);
    return known;
  };
  const untilReady = async (podUid: string): Promise<void> => {
    if (reports.has(podUid)) return;
    const told = awaited.get(podUid) ?? new EventEmitter();
    awaited.set(podUid, told);
    await once(told, 'ready', { signal: AbortSignal.timeout(LAUNCHER_WAIT_MS) })
      .catch(() => undefined)
      .finally(() => awaited.delete(podUid));
  };
  const change = (podUid: string, next: Partial<DomainReport>): DomainReport => {
    const before = current(podUid);
    const sequence = { ...before.sequence, n: before.sequence.n + 1 };
    const after = { ...before, ...next, sequence, at: new Date().toISOString() };
    reports.set(podUid, after);
    report(after);
    return after;
  };
  const end = (podUid: string, how: NonNullable<DomainReport['end']>): DomainReport =>
    current(podUid).state === 'running' || current(podUid).state === 'shuttingDown'
      ? change(podUid, { state: 'shutoff', end: how })
      : current(podUid);

  return {
    ready({ metadata, spec }) {
      const { uid: podUid = '', namespace = '', labels = {}, ownerReferences = [] } = metadata ?? {};
      if (reports.has(podUid)) return;
      const first: DomainReport = {
        vmi: { namespace, name: ownerReferences[0]?.name ?? '', uid: labels[CREATED_BY_LABEL] ?? '' },
        ...{ podUid, node: spec?.nodeName ?? '', sequence: { epoch: 1, n: 1 }, at: new Date().toISOString() },
        ...{ state: 'none', agent: { connected: false } },
      };
      reports.set(podUid, first);
      const told = awaited.get(podUid);
      if (told === undefined) report(first);
      else told.emit('ready');
    },
    gone: (podUid) => void reports.delete(podUid),
    get: current,
    async sync(podUid, tokenEpoch) {
      const synced = async (): Promise<DomainReport> => {
        await untilReady(podUid);
        return current(podUid).state === 'none'
          ? change(podUid, { state: 'running', tokenEpoch, hardware: HARDWARE })
          : current(podUid);
      };
      const answer = synced();
      answers.set(
        podUid,
        answer.catch(() => undefined),
      );
      return answer.finally(() => answers.delete(podUid));
    },
    async shutdown(podUid, deadline) {
      if (current(podUid).state !== 'running') return current(podUid);
      const answer = delay(GUEST_STOPS_MS).then(() => end(podUid, 'acpiShutdown'));
      answers.set(
        podUid,
        answer.catch(() => undefined),
      );
      change(podUid, { state: 'shuttingDown', deadline });
      return answer.finally(() => answers.delete(podUid));
    },
    kill: (podUid) => end(podUid, 'killed'),
  };
};

const HARDWARE: NonNullable<DomainReport['hardware']> = {
  machine: 'pc-q35-7.2',
  memoryBytes: 128 * 1024 * 1024,
  interfaces: { default: { mac: '02:00:00:00:00:01', queues: 1 } },
  selinuxContext: 'none',
};
