import { fileURLToPath } from 'node:url';
import type { CallOptions, ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { loadSync } from '@grpc/proto-loader';
import { LAUNCHER_PROTOCOL } from '../../../api/launcher/host-facts.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { failure } from '../../failures.ts';
import { fromLauncher } from './errors.ts';
import type { Handshake } from './schemas.ts';
import { domainReply, handshakeReply, parseReport } from './schemas.ts';
import { commandSocket, hasCommandSocket } from './sockets.ts';

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
export interface Launcher {
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

const service = (): ServiceDefinition => {
  const proto = fileURLToPath(new URL('../../../api/launcher/launcher.proto', import.meta.url));
  return loadSync(proto, { defaults: true, longs: Number })['virtflow.launcher.v1.Launcher'] as ServiceDefinition;
};

export const launchersIn = (pods: string, node: string): Launchers => {
  const methods = service();
  return {
    async connect(podUid, signal) {
      const name = `launcher of Pod ${podUid}`;
      if (!(await hasCommandSocket(pods, podUid))) {
        throw failure('LauncherUnreachable', `the ${name} has no command socket: it is not ready, or it is gone`);
      }
      const wire = open(`unix:${commandSocket(pods, podUid)}`, methods, name, signal);
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
    close: () => wire.close(),
  };
};

interface Wire {
  call(method: string, request: object, timeoutMs: number): Promise<unknown>;
  stream(method: string, request: object, signal: AbortSignal): AsyncIterable<unknown>;
  close(): void;
}

const open = (address: string, methods: ServiceDefinition, name: string, signal?: AbortSignal): Wire => {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.enable_http_proxy': 0,
    // A frozen launcher keeps its socket open: only a ping tells.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  const methodOf = (method: string) => {
    const found = methods[method];
    if (found === undefined) throw new Error(`launcher.proto has no method ${method}`);
    return found;
  };
  return {
    call: (method, request, timeoutMs) =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = methodOf(method);
        const options: CallOptions = { deadline: Date.now() + timeoutMs };
        const done = (error: ServiceError | null, reply?: unknown): void => {
          signal?.removeEventListener('abort', cancel);
          if (error) reject(fromLauncher(error, `${method} of the ${name}`));
          else resolve(reply);
        };
        const call = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          new Metadata(),
          options,
          done,
        );
        const cancel = (): void => call.cancel();
        signal?.addEventListener('abort', cancel, { once: true });
        if (signal?.aborted) cancel();
      }),
    async *stream(method, request, ends) {
      const { path, requestSerialize, responseDeserialize } = methodOf(method);
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
      const cancel = (): void => call.cancel();
      ends.addEventListener('abort', cancel, { once: true });
      try {
        if (ends.aborted) return;
        for await (const reply of call) yield reply as unknown;
      } catch (error) {
        if (!ends.aborted) throw fromLauncher(error, `${method} of the ${name}`);
      } finally {
        ends.removeEventListener('abort', cancel);
        call.cancel();
      }
    },
    close: () => client.close(),
  };
};
