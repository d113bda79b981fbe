import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const line = z.object({
  stage: z.literal('ResponseComplete'),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  userAgent: z.string().optional(),
  objectRef: z.object({ resource: z.string(), subresource: z.string().optional() }),
  responseStatus: z.object({ code: z.number() }),
  requestReceivedTimestamp: z.string(),
});

/** One request that the API server answered. */
export interface Request {
  who: string;
  verb: string;
  resource: string;
  status: number;
}

/** Requests of one kind. */
export interface Tally extends Omit<Request, 'status'> {
  count: number;
  /** Answered 409. */
  conflicts: number;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
export const isWrite = ({ verb }: Pick<Request, 'verb'>): boolean => WRITES.has(verb);

/** Who asks, by account; what only the benchmark's administrator does, by program. */
const whoIs = (username: string, userAgent: string): string => {
  const account = /^system:serviceaccount:virtflow:virtflow-(.*)$/.exec(username)?.[1];
  if (account !== undefined) return account;
  if (username === 'admin') return userAgent.startsWith('kwok') ? 'kwok' : 'bench';
  if (username.startsWith('system:serviceaccount:kube-system:')) return 'controller-manager';
  return username.replace(/^system:(kube-)?/, '');
};

/** A line of the audit log, if it is of a request that came between the two times (ms) and has been answered. Watches are not counted. */
export const readRequest = (text: string, from: number, to: number): Request | undefined => {
  const { success, data } = line.safeParse(tryJson(text));
  if (!success || data.verb === 'watch') return undefined;
  const at = Date.parse(data.requestReceivedTimestamp);
  if (at < from || at > to) return undefined;
  const { resource, subresource } = data.objectRef;
  return {
    who: whoIs(data.user.username, data.userAgent ?? ''),
    verb: data.verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    status: data.responseStatus.code,
  };
};

/** Counted by who, verb and resource, most first. */
export const tally = (requests: readonly Request[]): Tally[] => {
  const tallies = new Map<string, Tally>();
  for (const { status, ...of } of requests) {
    const key = `${of.who} ${of.verb} ${of.resource}`;
    const before = tallies.get(key) ?? { ...of, count: 0, conflicts: 0 };
    tallies.set(key, { ...before, count: before.count + 1, conflicts: before.conflicts + (status === 409 ? 1 : 0) });
  }
  return [...tallies.values()].sort((a, b) => b.count - a.count);
};

/** Requests between two times (ms), from the audit logs of a directory. */
export async function requestsIn(directory: string, from: number, to: number): Promise<Tally[]> {
  const files = (await readdir(directory)).filter((file) => /^audit.*\.log$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return tally(texts.flatMap((text) => text.split('\n')).flatMap((text) => readRequest(text, from, to) ?? []));
}

/** The last line may still be being written. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
