import type { Logger } from 'pino';
import { aborted } from '../../../activities/aborted.ts';
import { isDirectory } from '../../../activities/node/files/is-directory.ts';
import type { Launchers } from '../../../activities/node/launcher-client/client.ts';
import { lastReport, podVolume } from '../../../activities/node/launcher-client/sockets.ts';
import type { ProcessTable } from '../../../activities/node/pods/processes.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { isNewer } from '../../../api/launcher/reports.ts';
import { changesIn } from './changes.ts';

export interface SubscriptionPorts {
  node: string;
  pods: string;
  launchers: Launchers;
  processes: Pick<ProcessTable, 'ofPod'>;
  /** Takes each report that is newer than the one before and changes anything. */
  report: (report: DomainReport) => void;
  /** What an activity that waits for the launcher will answer; absent: none does. What comes of it is told, not that the launcher is there. */
  answer: (podUid: string) => Promise<DomainReport | undefined> | undefined;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  retryMs?: { first: number; most: number };
}

/**
 * Follows one launcher from its first report to the last one that it left behind. Lost connections are taken up again where they broke; a launcher
 * that restarts counts on in a new epoch. Resolves when no process of the Pod is left, or with the signal.
 */
export const followLauncher = async (podUid: string, ports: SubscriptionPorts, signal: AbortSignal): Promise<void> => {
  const { log, retryMs = { first: 250, most: 5_000 } } = ports;
  let last: DomainReport | undefined;
  const take = (report: DomainReport): void => {
    if (!isNewer(report, last)) return;
    const isNews = changesAnything(report, last);
    last = report;
    if (isNews && !(report.state === 'none' && ports.answer(podUid) !== undefined)) ports.report(report);
  };

  const followOnce = async (): Promise<void> => {
    const launcher = await ports.launchers.connect(podUid, signal);
    try {
      log.info({ podUid, vmi: launcher.handshake.name, release: launcher.handshake.release }, 'following a launcher');
      for await (const report of launcher.watchEvents({ ...(last && { after: last.sequence }), signal })) take(report);
    } finally {
      launcher.close();
    }
  };

  /** A launcher that is being started has one to talk to: whoever follows it goes on from what that one was told. */
  const afterStart = async (): Promise<void> => {
    const answer = ports.answer(podUid);
    if (answer === undefined || last !== undefined) return;
    last = (await Promise.race([answer, aborted(signal)])) ?? undefined;
  };

  const sockets = changesIn(podVolume(ports.pods, podUid, 'sockets'));
  try {
    for (let wait = retryMs.first; !signal.aborted; wait = Math.min(wait * 2, retryMs.most)) {
      await afterStart();
      // Before the attempt: a launcher that gets ready after it has failed changes the directory.
      sockets.watch();
      const before = last;
      await followOnce().catch((error: unknown) => log.debug({ err: error, podUid }, 'the launcher does not answer'));
      if (last !== before) wait = retryMs.first;
      if (signal.aborted) return;
      const left = await whatIsLeft(podUid, ports);
      if (left.report) take({ ...left.report, podUid, node: ports.node });
      if (left.ended || (left.empty && last !== undefined)) {
        log.info({ podUid, state: last?.state, end: last?.end }, 'a launcher Pod has ended');
        return;
      }
      await sockets.sleep(wait, signal);
    }
  } finally {
    sockets.close();
  }
};

/** That it starts is nobody's news: what becomes of it is told. That nothing is there yet is told once. */
const changesAnything = ({ state, end }: DomainReport, last: DomainReport | undefined): boolean =>
  state !== 'starting' && !(state === 'none' && end === undefined && last?.state === 'none');

/**
 * What a silent launcher's Pod has left on this node. No process alone does not mean that it has ended (`empty`): the kubelet makes a Pod's
 * directories before its first process. Containers that hold images may outlive the launcher.
 */
const whatIsLeft = async (
  podUid: string,
  { pods, processes }: SubscriptionPorts,
): Promise<{ ended: boolean; empty: boolean; report?: DomainReport }> => {
  const empty = (await processes.ofPod(podUid)).length === 0;
  const report = await lastReport(pods, podUid);
  const ended = empty && !(await isDirectory(podVolume(pods, podUid, 'sockets')));
  return { ended, empty, ...(report && { report }) };
};
