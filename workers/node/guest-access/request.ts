import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { GuestCall, GuestStream } from '../../../api/contract/guest-access.ts';
import { GUEST_CALLS, GUEST_STREAMS } from '../../../api/contract/guest-access.ts';
import { Refusal } from './refusal.ts';

/** Which guest is meant, and by which Pod it is reached. */
export interface GuestTarget {
  vmi: { namespace: string; name: string; uid: string };
  pod: { name: string; uid: string };
}

export interface GuestRequest<What> extends GuestTarget {
  what: What;
  params: Readonly<Record<string, string>>;
}

/** Names end up in paths of requests to the API server, the Pod's uid in a path on the node. */
const name = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/);
const uid = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const guest = z.object({ namespace: name, name, vmiUid: uid, pod: name, podUid: uid });

const isCall = (what: string): what is GuestCall => what in GUEST_CALLS;
const isStream = (what: string): what is GuestStream => (GUEST_STREAMS as readonly string[]).includes(what);

/** @throws Refusal */
export const readCall = (request: Pick<IncomingMessage, 'url' | 'method'>): GuestRequest<GuestCall> => {
  const { what, ...rest } = readTarget(request.url);
  if (!isCall(what)) throw new Refusal(404, `${what} is no call that this release knows`);
  if (request.method !== GUEST_CALLS[what]) throw new Refusal(405, `${what} is called by ${GUEST_CALLS[what]}`);
  return { what, ...rest };
};

/** @throws Refusal */
export const readStream = (request: Pick<IncomingMessage, 'url'>): GuestRequest<GuestStream> => {
  const { what, ...rest } = readTarget(request.url);
  if (!isStream(what)) throw new Refusal(404, `${what} is no stream that this release knows`);
  return { what, ...rest };
};

const readTarget = (path = '/'): GuestRequest<string> => {
  const url = URL.parse(path, 'https://node');
  const query = Object.fromEntries(url?.searchParams ?? []);
  const parsed = guest.safeParse(query);
  if (url === null || !parsed.success) {
    throw new Refusal(400, `which guest is meant? ${parsed.error === undefined ? '' : z.prettifyError(parsed.error)}`);
  }
  const { namespace, name, vmiUid, pod, podUid } = parsed.data;
  return {
    what: url.pathname.slice(1),
    vmi: { namespace, name, uid: vmiUid },
    pod: { name: pod, uid: podUid },
    params: query,
  };
};

/** A JSON body, undefined when there is none. @throws Refusal when it is too large or no JSON */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Refusal(413, `a body of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  if (length === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
};
