import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { KubeError } from '../../../activities/kube/port.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { byCode, internalError } from '../../../api/subresources/status.ts';
import { GuestAccessError } from '../guest-access/port.ts';

/** What a request is answered with. */
export type Answer =
  | { status: number; json?: object; etag?: string; refusal?: undefined }
  | { status: number; bytes: Buffer; contentType: string; refusal?: undefined }
  | { refusal: Status };

export const refuse = (refusal: Status): Answer => ({ refusal });

/** Never is an answer taken for something that a browser may run or keep. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Sends an answer. What has not been read of the request is not waited for: the connection ends then. */
export const respond = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
  const { status, type, body } = encoded(answer);
  response.writeHead(status, {
    ...HEADERS,
    'content-type': type,
    ...(status === 304 ? {} : { 'content-length': body.length }),
    ...('etag' in answer ? { etag: answer.etag } : {}),
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
};

/** Refuses a request to open a stream, on the bare connection. */
export const respondOnSocket = (socket: Duplex, refusal: Status): void => {
  const { status, type, body } = encoded({ refusal });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
};

const encoded = (answer: Answer): { status: number; type: string; body: Buffer } => {
  if (answer.refusal === undefined && 'bytes' in answer) {
    return { status: answer.status, type: answer.contentType, body: answer.bytes };
  }
  const { status, json } =
    answer.refusal === undefined ? answer : { status: answer.refusal.code, json: answer.refusal };
  return { status, type: 'application/json', body: Buffer.from(json === undefined ? '' : `${JSON.stringify(json)}\n`) };
};

/** What a user gets to hear of an error of the API server or of the guest's node; undefined: it is a fault of ours. */
export const statusOf = (error: unknown): Status | undefined => {
  if (error instanceof GuestAccessError) return byCode(error.status, error.message);
  if (!(error instanceof KubeError)) return undefined;
  // What the user's request ran into is passed on; how the API server is itself is not the user's fault.
  if (error.status < 400 || error.status >= 500 || error.status === 401) return internalError(error.message);
  return isStatus(error.cause) ? { ...error.cause, metadata: {} } : byCode(error.status, error.message);
};

const isStatus = (answer: unknown): answer is Status => {
  const { kind, code, message } = answer as Partial<Record<keyof Status, unknown>>;
  return kind === 'Status' && typeof code === 'number' && typeof message === 'string';
};
