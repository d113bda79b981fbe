import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createContext } from '../../../deploy/local/context.ts';

/** One write that the API server answered, from its audit log. */
export interface Write {
  verb: string;
  resource: string;
  name: string;
  user: string;
  status: number;
  /** RFC 3339, with microseconds: when it was answered. */
  at: string;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete']);
/** Written by people's requests for evidence, not for the state: counted apart. */
const APART = new Set(['events', 'leases']);
const OURS = /^system:serviceaccount:virtflow:/;

const line = z.object({
  stage: z.literal('ResponseComplete'),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z.object({
    resource: z.string(),
    subresource: z.string().optional(),
    namespace: z.string().optional(),
    name: z.string().optional(),
  }),
  responseStatus: z.object({ code: z.number() }),
  stageTimestamp: z.string(),
});

/** Writes of virtflow's service accounts to objects of a namespace since a time, Events and Leases left out, oldest first. */
export async function writesOfVirtflow(namespace: string, since: Date): Promise<Write[]> {
  const dir = join(createContext().stateDir, 'logs');
  const files = (await readdir(dir)).filter((file) => /^audit.*\.log$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n').filter((entry) => entry.includes(`"namespace":"${namespace}"`)))
    .flatMap((entry) => {
      const { success, data } = line.safeParse(tryJson(entry));
      if (!success || !WRITES.has(data.verb) || !OURS.test(data.user.username)) return [];
      const { resource, subresource, name = '' } = data.objectRef;
      if (data.objectRef.namespace !== namespace || APART.has(resource)) return [];
      if (Date.parse(data.stageTimestamp) < since.getTime()) return [];
      return [
        {
          verb: data.verb,
          resource: subresource === undefined ? resource : `${resource}/${subresource}`,
          name,
          user: data.user.username,
          status: data.responseStatus.code,
          at: data.stageTimestamp,
        },
      ];
    })
    .sort((a, b) => a.at.localeCompare(b.at));
}

/** The last line may still be being written. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
