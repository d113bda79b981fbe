import type { ServerWritableStream } from '@grpc/grpc-js';
import type { MigrationEvent } from '../../api/launcher/migration.ts';
import { checkUid } from './commands.ts';
import type { CommandServerOptions } from './index.ts';
import type { JsonRequest } from './commands.ts';
import { readMigrate } from './schemas.ts';
import { toServiceError } from './status.ts';

type Call = ServerWritableStream<JsonRequest, { json: string }>;

/** MigrateVMI: progress until the end. A caller that leaves changes nothing for the migration. */
export const migrateStream =
  ({ config, migrations, log }: CommandServerOptions) =>
  async (call: Call): Promise<void> => {
    let stop: () => void = () => undefined;
    let left = false;
    for (const end of ['cancelled', 'error', 'close']) {
      call.on(end, () => {
        left = true;
        stop();
      });
    }
    const send = (event: MigrationEvent): void => {
      call.write({ json: JSON.stringify(event) });
      if (event.type === 'ended') call.end();
    };
    try {
      checkUid(call.request.vmiUid, config);
      stop = await migrations.migrate(readMigrate(call.request.json), send);
      if (left) stop();
    } catch (error) {
      log.warn({ method: 'MigrateVMI', err: error }, 'command refused');
      call.emit('error', toServiceError(error));
    }
  };
