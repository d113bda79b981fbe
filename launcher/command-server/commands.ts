import { LAUNCHER_PROTOCOL } from '../../api/launcher/host-facts.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { LauncherConfig } from '../config.ts';
import type { DomainManager } from '../domain-manager/index.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import type { Guest } from '../guest/index.ts';
import type { Migrations } from '../migration/index.ts';
import { readFinalize, readHostFacts, readMigrationUid, readPrepareTarget, readProbe, readVmi } from './schemas.ts';

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
interface FreezeVmiRequest extends VmiRequest {
  thawAfterSeconds: number;
}
interface ScreenshotRequest extends VmiRequest {
  movePointer: boolean;
}

export interface CommandPorts {
  readonly config: LauncherConfig;
  readonly release: string;
  readonly epoch: number;
  readonly domains: DomainManager;
  readonly migrations: Migrations;
  readonly guest: Guest;
}

const reported = (report: DomainReport): { reportJson: string } => ({ reportJson: JSON.stringify(report) });
const withoutBigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
const json = (value: unknown): { json: string } => ({ json: JSON.stringify(value ?? {}, withoutBigints) });

type Handler = (request: never) => object | Promise<object>;

/** The unary commands by their names in the proto file. Each may throw CommandRefused or ConversionError. */
export function commands(ports: CommandPorts): Readonly<Record<string, Handler>> {
  const { config, release, epoch, domains, migrations, guest } = ports;
  const own: Record<string, Handler> = {
    SyncVMI: async ({ vmiJson, hostJson, tokenEpoch, paused }: SyncVmiRequest) => {
      const vmi = readVmi(vmiJson);
      checkUid(vmi.metadata?.uid ?? '', config);
      return reported(await domains.sync({ vmi, host: readHostFacts(hostJson), tokenEpoch, paused }));
    },
    PauseVMI: async () => reported(await domains.pause()),
    UnpauseVMI: async () => reported(await guest.unpause()),
    ResetVMI: async () => reported(await guest.reset()),
    SoftRebootVMI: async () => reported(await guest.softReboot()),
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
    GetGuestInfo: async () => json(await guest.info()),
    GuestPing: async () => json(await guest.agent('guest-ping')),
    ProbeGuest: async (request: JsonRequest) => json(await guest.probe(readProbe(request.json))),
    GetUsers: async () => json(await guest.agent('guest-get-users')),
    GetFilesystems: async () => json(await guest.agent('guest-get-fsinfo')),
    FreezeVMI: async ({ thawAfterSeconds }: FreezeVmiRequest) =>
      json({ filesystems: await guest.freezer.freeze(thawAfterSeconds) }),
    UnfreezeVMI: async () => json({ filesystems: await guest.freezer.thaw() }),
    SyncTime: async () => json(await guest.agent('guest-set-time')),
    GetScreenshot: async ({ movePointer }: ScreenshotRequest) => ({ png: await guest.screenshot({ movePointer }) }),
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
