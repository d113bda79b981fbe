import type { Readable } from 'node:stream';

/**
 * Frames: a length of four bytes (big-endian), then that much JSON. A connection between node workers begins with one in each direction (who comes
 * for what, and the answer); from then on a channel carries raw bytes, the hand-over more frames.
 */

export interface FrameLimits {
  maxBytes: number;
  timeoutMs: number;
}

const LENGTH_BYTES = 4;

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export const encodeFrame = (value: unknown): Buffer => {
  const body = Buffer.from(JSON.stringify(value));
  const frame = Buffer.alloc(LENGTH_BYTES + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, LENGTH_BYTES);
  return frame;
};

/** Reads one frame and not a byte more: what follows stays in the stream. @throws FrameError, or the stream's own error */
export const readFrame = (stream: Readable, { maxBytes, timeoutMs }: FrameLimits): Promise<unknown> =>
  new Promise((resolve, reject) => {
    let length: number | undefined;
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      stream.off('readable', take).off('end', cut).off('close', cut).off('error', fail);
      settle();
    };
    const fail = (error: Error): void => finish(() => reject(error));
    const cut = (): void => fail(new FrameError('the connection ended within a frame'));
    const take = (): void => {
      try {
        length ??= readLength(stream, maxBytes);
        if (length === undefined) return;
        const body = stream.read(length) as Buffer | null;
        if (body === null) return;
        // At its end a stream gives what it has.
        if (body.length < length) return cut();
        const value = parse(body);
        finish(() => resolve(value));
      } catch (error) {
        fail(error as Error);
      }
    };
    const timer = setTimeout(() => fail(new FrameError(`no whole frame within ${timeoutMs} ms`)), timeoutMs);
    stream.on('readable', take).on('end', cut).on('close', cut).on('error', fail);
    if (stream.destroyed || stream.readableEnded) cut();
    else take();
  });

const readLength = (stream: Readable, maxBytes: number): number | undefined => {
  const head = stream.read(LENGTH_BYTES) as Buffer | null;
  if (head === null || head.length < LENGTH_BYTES) return undefined;
  const length = head.readUInt32BE();
  if (length === 0 || length > maxBytes)
    throw new FrameError(`a frame of ${length} bytes; at most ${maxBytes} are taken`);
  return length;
};

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new FrameError('a frame that holds no JSON');
  }
};
