import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';
import type { Status } from '../../../api/subresources/status.ts';
import { badRequest, timedOut, tooLarge, unsupportedMediaType } from '../../../api/subresources/status.ts';

/** More than any option needs, and enough for a VM's manifest (the API server itself stores 1.5 MiB at most). */
const MAX_BYTES = 1_048_576;
/** What is read and thrown away of a larger body, so that its sender is there to hear the answer. */
const MAX_DISCARDED_BYTES = 16 * MAX_BYTES;
/** A body that comes slower than this is no request, in ms. */
const WITHIN_MS = 15_000;

/** What a request carries: an object out of JSON or YAML, undefined without any; or why it is refused. */
export type Body = { value: unknown; refusal?: undefined } | { refusal: Status };

/** Whoever asked is there no more: nobody waits for an answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the client closed the connection');
  }
}

/** Encodings that Kubernetes' clients know and these options do not have. */
const FOREIGN = ['application/vnd.kubernetes.protobuf', 'application/cbor'];

/**
 * Reads a body whole, within bounds of size and time. Whatever it calls itself, it is read as JSON or YAML, as KubeVirt does.
 * @param isStrict it must be JSON, and say so if it says anything
 * @throws ClientGone
 */
export const readBody = async (request: IncomingMessage, isStrict = false, withinMs = WITHIN_MS): Promise<Body> => {
  const type = ((request.headers['content-type'] ?? '').split(';')[0] ?? '').trim().toLowerCase();
  if (FOREIGN.includes(type) || (isStrict && !['', 'application/json'].includes(type))) {
    return { refusal: unsupportedMediaType(`the body is of type "${type}": send it as application/json`) };
  }
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    return { refusal: unsupportedMediaType('the body is compressed: send it as it is') };
  }
  const text = await readText(request, withinMs);
  return typeof text === 'string' ? parsed(text, isStrict) : { refusal: text };
};

const readText = (request: IncomingMessage, withinMs: number): Promise<string | Status> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => {
      end(timedOut(`the body of the request did not come whole within ${withinMs / 1000} s`));
    }, withinMs);
    const end = (result: string | Status): void => {
      clearTimeout(late);
      resolve(result);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_DISCARDED_BYTES) end(tooLarge(MAX_BYTES));
      else if (size <= MAX_BYTES) chunks.push(chunk);
    });
    request.on('end', () => end(size > MAX_BYTES ? tooLarge(MAX_BYTES) : Buffer.concat(chunks).toString('utf8')));
    // After the end this says nothing new.
    const gone = (): void => {
      clearTimeout(late);
      reject(new ClientGone());
    };
    request.on('close', gone).on('error', gone);
  });

const parsed = (text: string, isStrict: boolean): Body => {
  if (text.trim() === '') return { value: undefined };
  try {
    if (isStrict || /^\s*[{[]/.test(text)) return { value: JSON.parse(text) as unknown };
    // Aliases could make much of little.
    return { value: parse(text, { maxAliasCount: 0 }) as unknown };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { refusal: badRequest(`Can not unmarshal Request body to struct, error: ${reason}`) };
  }
};
