import { EventEmitter } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream, status } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { loadSync } from '@grpc/proto-loader';
import { LAUNCHER_PROTOCOL } from '../../api/launcher/host-facts.ts';
import type { MigrationEvent } from '../../api/launcher/migration.ts';
import { COMMAND_SOCKET, LAUNCHER_VOLUMES } from '../../api/launcher/paths.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { isNewer } from '../../api/launcher/reports.ts';

type Call = ServerUnaryCall<Record<string, unknown>, object>;
type Reply = sendUnaryData<object>;
type Watch = ServerWritableStream<{ resume: boolean; afterEpoch: number; afterN: number }, object>;
type Migrate = ServerWritableStream<{ json: string }, object>;

/** A command server of launcher.proto without a hypervisor: what it says is set by the test. */
export interface LauncherServer {
  podUid: string;
  /** Requests so far, by method. */
  received: { method: string; request: Record<string, unknown> }[];
  /** Answered by every command, and told to watchers with `say`. */
  current: DomainReport;
  say: (report: Partial<DomainReport>) => void;
  /** Refuse a method from now on. */
  refuse: (method: string, code: status, details: string) => void;
  /** Take a refusal back. */
  allow: (method: string) => void;
  /** Answer a method with this from now on. */
  answer: (method: string, reply: object) => void;
  watchers: () => number;
  /** Said to everybody who follows MigrateVMI, now and later; `ended` ends their streams. */
  migrationSays: (event: MigrationEvent) => void;
  /** Everybody who follows MigrateVMI now. */
  migrating: () => number;
  /** Breaks the streams of MigrateVMI off, without a word. */
  breakOff: () => void;
  /** As if the process died: connections break, the socket stays. */
  stop: () => void;
}

export const report = (podUid: string, over: Partial<DomainReport> = {}): DomainReport => ({
  vmi: { namespace: 'default', name: 'vm', uid: 'vmi-uid' },
  podUid,
  node: '',
  sequence: { epoch: 1, n: 1 },
  at: '2026-11-29T12:00:00.000Z',
  state: 'running',
  agent: { connected: false },
  ...over,
});

const PROTO = new URL('../../api/launcher/launcher.proto', import.meta.url).pathname;

/** Serves on the Pod's command socket below a pods directory. */
export const startLauncher = async (pods: string, podUid: string, epoch = 1): Promise<LauncherServer> => {
  const sockets = join(pods, podUid, 'volumes/kubernetes.io~empty-dir', LAUNCHER_VOLUMES.sockets.name);
  await mkdir(sockets, { recursive: true });
  const definition = loadSync(PROTO, { defaults: true })['virtflow.launcher.v1.Launcher'] as ServiceDefinition;
  const events = new EventEmitter();
  const refusals = new Map<string, { code: status; details: string }>();
  const answers = new Map<string, object>();
  const replyOf = (method: string): object => {
    const given = answers.get(method);
    if (given) return given;
    const { namespace, name, uid: vmiUid } = self.current.vmi;
    if (method === 'Handshake') {
      return { protocol: LAUNCHER_PROTOCOL, release: 'test', namespace, name, vmiUid, podUid, launcherEpoch: epoch };
    }
    return { reportJson: JSON.stringify(self.current) };
  };
  const unary = (method: string) => (call: Call, reply: Reply) => {
    self.received.push({ method, request: call.request });
    const refused = refusals.get(method);
    if (refused) reply({ ...refused, name: 'refused', message: refused.details });
    else reply(null, replyOf(method));
  };
  const watch = (call: Watch): void => {
    self.received.push({ method: 'WatchEvents', request: { ...call.request } });
    const { resume, afterEpoch, afterN } = call.request;
    const send = (one: DomainReport): void => void call.write({ reportJson: JSON.stringify(one) });
    const after = { podUid, sequence: { epoch: afterEpoch, n: afterN } };
    if (!resume || isNewer(self.current, after)) send(self.current);
    events.on('say', send);
    call.on('cancelled', () => events.off('say', send));
  };

  const said: MigrationEvent[] = [];
  const streams = new Set<Migrate>();
  const tell = (call: Migrate, event: MigrationEvent): void => {
    call.write({ json: JSON.stringify(event) });
    if (event.type === 'ended') call.end();
  };
  const migrate = (call: Migrate): void => {
    self.received.push({ method: 'MigrateVMI', request: { ...call.request } });
    const refused = refusals.get('MigrateVMI');
    if (refused) return void call.emit('error', refused);
    streams.add(call);
    call.on('cancelled', () => streams.delete(call)).on('close', () => streams.delete(call));
    for (const event of said) tell(call, event);
  };

  const server = new Server();
  server.addService(
    definition,
    Object.fromEntries(
      Object.keys(definition).map((method) => [
        method,
        method === 'WatchEvents' ? watch : method === 'MigrateVMI' ? migrate : unary(method),
      ]),
    ),
  );
  const socket = join(sockets, COMMAND_SOCKET);
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  const self: LauncherServer = {
    podUid,
    received: [],
    current: report(podUid, { sequence: { epoch, n: 1 } }),
    say(over) {
      const { sequence } = self.current;
      self.current = { ...self.current, sequence: { ...sequence, n: sequence.n + 1 }, ...over };
      events.emit('say', self.current);
    },
    refuse: (method, code, details) => void refusals.set(method, { code, details }),
    allow: (method) => void refusals.delete(method),
    answer: (method, reply) => void answers.set(method, reply),
    watchers: () => events.listenerCount('say'),
    migrationSays(event) {
      said.push(event);
      for (const call of streams) tell(call, event);
    },
    migrating: () => streams.size,
    breakOff() {
      for (const call of streams) call.end();
    },
    stop: () => server.forceShutdown(),
  };
  return self;
};
