import { LAUNCHER_PROTOCOL } from '../../api/launcher/host-facts.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { LauncherConfig } from '../config.ts';
import type { DomainManager } from '../domain-manager/index.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import type { Migrations } from '../migration/index.ts';
import { readFinalize, readHostFacts, readMigrationUid, readPrepareTarget, readVmi } from './schemas.ts';

/** Requests as the proto file has them, with all defaults filled in. */
export interface VmiRequest {
  vmiUid: string;
}
interface SyncVmiRequest extends VmiRequest {
  vmiJson: string;
  hostJson: string;
  tokenEpoch: number;
  paused: boolean;
}
export interface JsonRequest extends VmiRequest {
  json: string;
}
interface ShutdownVmiRequest extends VmiRequest {
  deadlineMs: number;
}

export interface CommandPorts {
  readonly config: LauncherConfig;
  readonly release: string;
  readonly epoch: number;
  readonly domains: DomainManager;
  readonly migrations: Migrations;
}

/** How long a guest agent may take, in seconds. Freezing flushes all file systems first. */
const AGENT_SECONDS = 5;
const FREEZE_SECONDS = 60;

const reported = (report: DomainReport): { reportJson: string } => ({ reportJson: JSON.stringify(report) });
const withoutBigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
const json = (value: unknown): { json: string } => ({ json: JSON.stringify(value ?? {}, withoutBigints) });

type Handler = (request: never) => object | Promise<object>;

/** The unary commands by their names in the proto file. Each may throw CommandRefused or ConversionError. */
export function commands(ports: CommandPorts): Readonly<Record<string, Handler>> {
  const { config, release, epoch, domains, migrations } = ports;
  const agent = async (execute: string, seconds = AGENT_SECONDS): Promise<unknown> => {
    if (!domains.reports.latest.agent.connected) throw new CommandRefused('failed', 'the guest agent is not connected');
    return domains.domain.run((client, domain) => client.agentCommand(domain, execute, undefined, seconds));
  };
  const own: Record<string, Handler> = {
    SyncVMI: async ({ vmiJson, hostJson, tokenEpoch, paused }: SyncVmiRequest) => {
      const vmi = readVmi(vmiJson);
      checkUid(vmi.metadata?.uid ?? '', config);
      return reported(await domains.sync({ vmi, host: readHostFacts(hostJson), tokenEpoch, paused }));
    },
    PauseVMI: async () => reported(await domains.pause()),
    UnpauseVMI: async () => reported(await domains.unpause()),
    ShutdownVMI: ({ deadlineMs }: ShutdownVmiRequest) => {
      if (!(deadlineMs >= 0)) throw new CommandRefused('invalid', `deadline_ms: ${deadlineMs} is no time`);
      return reported(domains.shutdown(deadlineMs));
    },
    KillVMI: async () => reported(await domains.kill()),
    DeleteVMI: async () => reported(await domains.remove()),
    PrepareMigrationTarget: async (request: JsonRequest) => {
      const prepare = readPrepareTarget(request.json);
      checkUid(prepare.vmi.metadata?.uid ?? '', config);
      return json(await migrations.prepare(prepare));
    },
    CancelMigration: async (request: JsonRequest) => json(await migrations.cancel(readMigrationUid(request.json))),
    ResumeMigrated: async (request: JsonRequest) => json(await migrations.resume(readMigrationUid(request.json))),
    FinalizeMigration: async (request: JsonRequest) => json(await migrations.finalize(readFinalize(request.json))),
    AbandonMigrationTarget: async (request: JsonRequest) =>
      json(await migrations.abandon(readMigrationUid(request.json))),
    GetMigration: async (request: JsonRequest) => json(await migrations.view(readMigrationUid(request.json))),
    GetDomain: async () => reported(await domains.current()),
    GetDomainStats: async () => json(await domains.domain.run((client) => client.allDomainStats())),
    GetGuestInfo: () => json(domains.reports.latest.agent),
    GuestPing: async () => json(await agent('guest-ping')),
    GetUsers: async () => json(await agent('guest-get-users')),
    GetFilesystems: async () => json(await agent('guest-get-fsinfo')),
    FreezeVMI: async () => json({ filesystems: await agent('guest-fsfreeze-freeze', FREEZE_SECONDS) }),
    UnfreezeVMI: async () => json({ filesystems: await agent('guest-fsfreeze-thaw', FREEZE_SECONDS) }),
    SyncTime: async () => json(await agent('guest-set-time')),
  };
  const checked = Object.entries(own).map(([name, handle]): [string, Handler] => [
    name,
    (request: VmiRequest) => {
      checkUid(request.vmiUid, config);
      return handle(request as never);
    },
  ]);
  const identity = { namespace: config.vmi.namespace, name: config.vmi.name, vmiUid: config.vmi.uid };
  const handshake = { protocol: LAUNCHER_PROTOCOL, release, ...identity, podUid: config.podUid, launcherEpoch: epoch };
  return { Handshake: () => handshake, ...Object.fromEntries(checked) };
}

/** @throws CommandRefused `invalid` */
export function checkUid(uid: string, { vmi }: LauncherConfig): void {
  if (uid !== vmi.uid) {
    throw new CommandRefused(
      'invalid',
      `vmi_uid: this is the launcher of VMI ${vmi.namespace}/${vmi.name} with uid ${vmi.uid}, not ${uid}`,
    );
  }
}
