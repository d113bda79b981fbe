import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { loadSync } from '@grpc/proto-loader';
import { LAUNCHER_PROTOCOL } from '../../../api/launcher/host-facts.ts';
import { LAUNCHER_PROTO } from '../../../api/launcher/proto.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { failure } from '../../failures.ts';
import type { GuestCommands } from './guest-commands.ts';
import { guestCommands } from './guest-commands.ts';
import type { MigrationCommands } from './migration-commands.ts';
import { migrationCommands } from './migration-commands.ts';
import type { Handshake } from './schemas.ts';
import { domainReply, handshakeReply, parseReport } from './schemas.ts';
import { commandSocket, hasCommandSocket } from './sockets.ts';
import type { Wire } from './wire.ts';
import { openWire } from './wire.ts';

/** Milliseconds that a command may take, by what it has to do. */
const DEADLINES = { answer: 5_000, kill: 20_000, sync: 60_000 };

export interface SyncRequest {
  vmiUid: string;
  vmiJson: string;
  tokenEpoch: number;
  hostJson: string;
  paused: boolean;
}

/** A connection to one launcher, its identity checked. All commands throw the failures of `fromLauncher`. */
export interface Launcher extends MigrationCommands, GuestCommands {
  readonly handshake: Handshake;
  syncVMI(request: SyncRequest): Promise<DomainReport>;
  shutdownVMI(vmiUid: string, deadline: Date): Promise<DomainReport>;
  killVMI(vmiUid: string): Promise<DomainReport>;
  getDomain(vmiUid: string): Promise<DomainReport>;
  /** Newest report first, then every change; with `after` only what is newer. Ends with the connection or the signal. */
  watchEvents(options: { after?: DomainReport['sequence']; signal: AbortSignal }): AsyncIterable<DomainReport>;
  close(): void;
}

/** Reaches launchers of this node by Pod uid. */
export interface Launchers {
  /** @throws LauncherUnreachable when there is no socket or nobody answers, LauncherTooOld, StaleToken (another Pod's launcher answers) */
  connect(podUid: string, signal?: AbortSignal): Promise<Launcher>;
}

const service = (): ServiceDefinition =>
  loadSync(fileURLToPath(LAUNCHER_PROTO), { defaults: true, longs: Number })[
    'virtflow.launcher.v1.Launcher'
  ] as ServiceDefinition;

export const launchersIn = (pods: string, node: string): Launchers => {
  const methods = service();
  return {
    async connect(podUid, signal) {
      const name = `launcher of Pod ${podUid}`;
      if (!(await hasCommandSocket(pods, podUid))) {
        throw failure('LauncherUnreachable', `the ${name} has no command socket: it is not ready, or it is gone`);
      }
      const wire = openWire(`unix:${commandSocket(pods, podUid)}`, methods, name, signal);
      try {
        const hello = { protocol: LAUNCHER_PROTOCOL, caller: `virtflow node worker ${node}` };
        const handshake = handshakeReply.parse(await wire.call('Handshake', hello, DEADLINES.answer));
        if (handshake.podUid !== podUid) {
          throw failure('StaleToken', `on the socket of Pod ${podUid} answers the launcher of Pod ${handshake.podUid}`);
        }
        return launcher(wire, handshake, (report) => ({ ...report, podUid, node }));
      } catch (error) {
        wire.close();
        throw error;
      }
    },
  };
};

/** `stamp`: which Pod and node a report is of is known here, not by the launcher's word. */
const launcher = (wire: Wire, handshake: Handshake, stamp: (report: DomainReport) => DomainReport): Launcher => {
  const read = (reply: unknown): DomainReport => stamp(parseReport(domainReply.parse(reply).reportJson));
  const command = async (method: string, request: object, deadline: number): Promise<DomainReport> =>
    read(await wire.call(method, request, deadline));
  return {
    handshake,
    syncVMI: (request) => command('SyncVMI', request, DEADLINES.sync),
    shutdownVMI: (vmiUid, deadline) =>
      command('ShutdownVMI', { vmiUid, deadlineMs: deadline.getTime() }, DEADLINES.answer),
    killVMI: (vmiUid) => command('KillVMI', { vmiUid }, DEADLINES.kill),
    getDomain: (vmiUid) => command('GetDomain', { vmiUid }, DEADLINES.answer),
    async *watchEvents({ after, signal }) {
      const from = after && { resume: true, afterEpoch: after.epoch, afterN: after.n };
      for await (const reply of wire.stream('WatchEvents', from ?? { resume: false }, signal)) yield read(reply);
    },
    ...migrationCommands(wire, handshake),
    ...guestCommands(wire, handshake),
    close: () => wire.close(),
  };
};
