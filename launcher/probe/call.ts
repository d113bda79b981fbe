import { connect } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import { createConnection } from 'node:net';

/** The command server refused, or did not answer in time. */
export class CallError extends Error {
  override readonly name = 'CallError';
}

export interface Call {
  socket: string;
  /** Name of a unary command of launcher.proto with a JsonReply. */
  method: string;
  vmiUid: string;
  /** Of a JsonRequest. */
  json?: string;
  timeoutMs: number;
}

/**
 * Calls the launcher's command server and returns the `json` of its reply. By hand, without the library: a probe is a process of its own every few
 * seconds, and shall cost next to nothing.
 * @throws CallError
 */
export const call = ({ socket, method, vmiUid, json, timeoutMs }: Call): Promise<string> =>
  new Promise((resolve, reject) => {
    const client = connect('http://launcher', { createConnection: () => createConnection(socket) });
    const fail = (message: string): void => {
      clearTimeout(timer);
      client.destroy();
      reject(new CallError(message));
    };
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
    client.on('error', (error: Error) => fail(error.message));
    const request = client.request({
      ':method': 'POST',
      ':path': `/virtflow.launcher.v1.Launcher/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': `${timeoutMs}m`,
    });
    const received: Buffer[] = [];
    let headers: IncomingHttpHeaders = {};
    const take = (more: IncomingHttpHeaders): void => {
      headers = { ...headers, ...more };
    };
    // A refusal may come without a body, and then all headers come at once.
    request.on('response', take).on('trailers', take);
    request.on('data', (chunk: Buffer) => received.push(chunk));
    request.on('error', (error: Error) => fail(error.message));
    request.on('close', () => {
      const status = headers['grpc-status'];
      if (status !== '0') return fail(refusal(status, headers['grpc-message']));
      clearTimeout(timer);
      client.close();
      resolve(readReply(Buffer.concat(received)));
    });
    request.end(frame(Buffer.concat([field(1, vmiUid), ...(json === undefined ? [] : [field(2, json)])])));
  });

const refusal = (status: string | string[] | undefined, message: string | string[] | undefined): string =>
  status === undefined ? 'the command server broke the connection off' : decodeURIComponent(String(message ?? status));

/** One message of gRPC, not compressed: a byte of flags, its length, itself. */
const frame = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

/** A string of a protobuf message. */
const field = (number: number, text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
};

/** Of a JsonReply, whose only field is its first; empty when it is left out. */
const readReply = (reply: Buffer): string => {
  const message = reply.subarray(5);
  if (message[0] !== ((1 << 3) | 2)) return '';
  let length = 0;
  let at = 1;
  for (let shift = 0; ; shift += 7, at += 1) {
    const byte = message[at] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return message.subarray(at + 1, at + 1 + length).toString();
};
