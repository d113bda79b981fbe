import { MIGRATION_PROTOCOL } from '../../../api/launcher/host-facts.ts';
import type {
  FinalizeRequest,
  MigrateRequest,
  MigrationEvent,
  MigrationRef,
  MigrationView,
  PrepareTargetReply,
  PrepareTargetRequest,
} from '../../../api/launcher/migration.ts';
import { failure } from '../../failures.ts';
import { migrationEvent, migrationView, parseReply, prepareTargetReply } from './migration-schemas.ts';
import type { Handshake } from './schemas.ts';
import type { Wire } from './wire.ts';

/** Milliseconds that a command may take: one that answers at once, and one that makes disks. */
const DEADLINES = { answer: 5_000, prepare: 60_000 };

/** The migration commands of a launcher. @throws LauncherTooOld, and the failures of `fromLauncher` */
export interface MigrationCommands {
  prepareMigrationTarget(request: PrepareTargetRequest): Promise<PrepareTargetReply>;
  /** Carries it out, or attaches. Ends after `ended`, or with the signal: that does not end the migration. */
  migrateVMI(request: MigrateRequest, signal: AbortSignal): AsyncIterable<MigrationEvent>;
  cancelMigration(ref: MigrationRef): Promise<MigrationView>;
  getMigration(ref: MigrationRef): Promise<MigrationView>;
  resumeMigrated(ref: MigrationRef): Promise<MigrationView>;
  finalizeMigration(request: FinalizeRequest): Promise<MigrationView>;
  abandonMigrationTarget(ref: MigrationRef): Promise<MigrationView>;
}

export const migrationCommands = (wire: Wire, handshake: Handshake): MigrationCommands => {
  const wrap = (request: object): object => {
    if (handshake.protocol < MIGRATION_PROTOCOL) {
      throw failure(
        'LauncherTooOld',
        `the launcher of Pod ${handshake.podUid} is of release ${handshake.release}, which cannot migrate: restart the VM`,
      );
    }
    return { vmiUid: handshake.vmiUid, json: JSON.stringify(request) };
  };
  const view = async (method: string, request: object): Promise<MigrationView> =>
    parseReply(migrationView, await wire.call(method, wrap(request), DEADLINES.answer));
  return {
    prepareMigrationTarget: async (request) =>
      parseReply(prepareTargetReply, await wire.call('PrepareMigrationTarget', wrap(request), DEADLINES.prepare)),
    async *migrateVMI(request, signal) {
      for await (const reply of wire.stream('MigrateVMI', wrap(request), signal)) {
        yield parseReply(migrationEvent, reply);
      }
    },
    cancelMigration: (ref) => view('CancelMigration', ref),
    getMigration: (ref) => view('GetMigration', ref),
    resumeMigrated: (ref) => view('ResumeMigrated', ref),
    finalizeMigration: (request) => view('FinalizeMigration', request),
    abandonMigrationTarget: (ref) => view('AbandonMigrationTarget', ref),
  };
};
