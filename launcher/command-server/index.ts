import { chmodSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server as NetServer } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type {
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
  sendUnaryData,
} from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { ReportStream } from '../domain-manager/report-stream.ts';
import { commands } from './commands.ts';
import type { CommandPorts } from './commands.ts';
import { migrateStream } from './migrate-stream.ts';
import { createGate } from './gate.ts';
import { launcherService } from './service.ts';
import { notYet, toServiceError } from './status.ts';

export interface CommandServer {
  /** Renames the socket: from here on callers may talk to us. */
  markReady(): void;
  /** Resolves once no command is under way: the Pod's end must not cut off the answer of the one that caused it. */
  answered(): Promise<void>;
}

export interface CommandServerOptions extends CommandPorts {
  readonly initSocket: string;
  readonly commandSocket: string;
  readonly log: Logger;
}

/** The node worker is root; nobody else than the launcher's own user needs the socket. */
const SOCKET_MODE = 0o700;
/** Longest wait for commands under way when the Pod ends. */
const ANSWER_MS = 2_000;
/** An answer is given to the event loop first and written a little later. */
const FLUSH_MS = 50;

/** Serves the commands of launcher.proto on the init socket. */
export async function serveCommands(options: CommandServerOptions): Promise<CommandServer> {
  const { initSocket, commandSocket, log } = options;
  const server = new Server({ 'grpc.max_receive_message_length': 4 * 1024 * 1024 });
  const service = launcherService();
  const underWay = new Set<Promise<unknown>>();
  server.addService(service, implementation(service, options, underWay));
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const gate = createGate({
    accept: (socket) => injector.injectConnection(socket),
    refused: onceOnly(() =>
      log.warn('a connection to the command socket does not speak HTTP/2: closed; later ones silently'),
    ),
  });
  await listen(gate, [initSocket, commandSocket]);
  return {
    markReady: () => renameSync(initSocket, commandSocket),
    answered: async () => {
      await Promise.race([Promise.allSettled(underWay), delay(ANSWER_MS)]);
      await delay(FLUSH_MS);
    },
  };
}

/** Every method of the proto file has a handler: ours, or one that says "not yet". */
function implementation(
  service: ServiceDefinition,
  options: CommandServerOptions,
  underWay: Set<Promise<unknown>>,
): UntypedServiceImplementation {
  const { log, domains } = options;
  const handlers = commands(options);
  const unary = (method: string) => (call: ServerUnaryCall<never, object>, respond: sendUnaryData<object>) => {
    const handle = handlers[method];
    if (handle === undefined) return respond(notYet(method));
    const answered = Promise.resolve(call.request)
      .then(handle)
      .then(
        (reply) => respond(null, reply),
        (error: unknown) => {
          log.warn({ method, err: error }, 'command refused');
          respond(toServiceError(error));
        },
      )
      .finally(() => underWay.delete(answered));
    underWay.add(answered);
  };
  const streams = {
    WatchEvents: (call: Watch) => watchEvents(call, domains.reports),
    MigrateVMI: migrateStream(options),
  };
  return {
    ...Object.fromEntries(Object.keys(service).map((method) => [method, unary(method)])),
    ...streams,
  };
}

type Watch = ServerWritableStream<{ resume: boolean; afterEpoch: number; afterN: number }, { reportJson: string }>;

/** Sends the latest report, then each new one, until the reader leaves. What the reader's end has taken counts as received. */
function watchEvents(call: Watch, reports: ReportStream): void {
  const { resume, afterEpoch, afterN } = call.request;
  const send = (report: DomainReport): void => {
    call.write({ reportJson: JSON.stringify(report) }, () => reports.received(report.sequence));
  };
  const stop = reports.watch(send, resume ? { epoch: afterEpoch, n: afterN } : undefined);
  for (const end of ['cancelled', 'error', 'close']) call.on(end, stop);
}

async function listen(gate: NetServer, stale: readonly [string, string]): Promise<void> {
  for (const socket of stale) rmSync(socket, { force: true });
  gate.listen(stale[0]);
  await once(gate, 'listening');
  chmodSync(stale[0], SOCKET_MODE);
}

function onceOnly(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
