import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { errorCode } from '../files/error-code.ts';
import type { Session } from './port.ts';

/** Sessions on disk, one file each: they are there again after a restart of the worker. */
export interface SessionStore {
  save(session: Session): Promise<void>;
  remove(migrationUid: string): Promise<void>;
  /** All that can be read; files that cannot are removed, and told of. */
  load(): Promise<Session[]>;
}

const text = z.string().min(1);
const uid = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const common = {
  migrationUid: uid,
  vmi: z.object({ namespace: text, name: text, uid: text }),
  pod: z.object({ name: text, uid }),
};

const schema: z.ZodType<Session> = z.discriminatedUnion('role', [
  z.object({
    ...common,
    role: z.literal('target'),
    sourceNode: text,
    sockets: z.object({ libvirt: text, memory: text, block: text }),
  }),
  z.object({
    ...common,
    role: z.literal('source'),
    target: z.object({ node: text, address: text, port: z.number().int() }),
  }),
]);

const SUFFIX = '.json';

export const sessionStore = (directory: string, log: Pick<Logger, 'warn'>): SessionStore => {
  const fileOf = (migrationUid: string): string => join(directory, `${uid.parse(migrationUid)}${SUFFIX}`);
  return {
    async save(session) {
      const file = fileOf(session.migrationUid);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeWhole(file, `${JSON.stringify(schema.parse(session))}\n`);
    },
    remove: (migrationUid) => rm(fileOf(migrationUid), { force: true }),
    async load() {
      const sessions: Session[] = [];
      for (const name of (await names(directory)).filter((one) => one.endsWith(SUFFIX))) {
        const file = join(directory, name);
        try {
          sessions.push(schema.parse(JSON.parse(await readFile(file, 'utf8'))));
        } catch (error) {
          log.warn({ err: error, file }, 'the session of a migration cannot be read and is removed');
          await rm(file, { force: true });
        }
      }
      return sessions;
    },
  };
};

/** Under another name first, and on disk before it is renamed: a worker or node that stops in between leaves the old file or none. */
const writeWhole = async (file: string, content: string): Promise<void> => {
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(partial, file);
};

const names = async (directory: string): Promise<string[]> => {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
};
