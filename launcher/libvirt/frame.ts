import { LibvirtProtocolError } from './errors.ts';

/**
 * One message on the wire: a length that counts itself, six words of header, then an XDR payload
 * (libvirt's src/rpc/virnetprotocol.x).
 */
export interface Frame {
  readonly program: number;
  readonly procedure: number;
  readonly type: number;
  readonly serial: number;
  readonly status: number;
  readonly payload: Buffer;
}

export const Program = { remote: 0x20008086, qemu: 0x20008087, keepalive: 0x6b656570 } as const;
export const MessageType = { call: 0, reply: 1, event: 2, stream: 3 } as const;
export const Status = { ok: 0, error: 1, continue: 2 } as const;

const VERSION = 1;
const LENGTH_BYTES = 4;
const HEADER_BYTES = 28;
/**
 * libvirt allows 32 MiB; the largest message of one virtual machine is a string of at most 4 MiB with little around it.
 */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

export function encodeFrame(frame: Frame): Buffer {
  const length = HEADER_BYTES + frame.payload.length;
  if (length > MAX_FRAME_BYTES) throw new LibvirtProtocolError(`message of ${length} bytes exceeds ${MAX_FRAME_BYTES}`);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(length, 0);
  header.writeUInt32BE(frame.program, 4);
  header.writeUInt32BE(VERSION, 8);
  header.writeInt32BE(frame.procedure, 12);
  header.writeInt32BE(frame.type, 16);
  header.writeUInt32BE(frame.serial, 20);
  header.writeInt32BE(frame.status, 24);
  return Buffer.concat([header, frame.payload]);
}

/** Cuts a byte stream into frames, wherever the stream happens to be split. Holds at most one frame and one chunk. */
export class FrameParser {
  #chunks: Buffer[] = [];
  #buffered = 0;

  /**
   * Takes the next bytes and returns the frames they complete.
   * @throws LibvirtProtocolError on an impossible length or version; the stream cannot be read any further then
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Frame[] = [];
    for (
      let length = this.#nextLength();
      length !== undefined && this.#buffered >= length;
      length = this.#nextLength()
    ) {
      frames.push(decodeFrame(this.#shift(length)));
    }
    return frames;
  }

  /** Length of the frame being received, undefined while its first four bytes have not arrived. */
  #nextLength(): number | undefined {
    if (this.#buffered < LENGTH_BYTES) return undefined;
    const length = this.#head(LENGTH_BYTES).readUInt32BE(0);
    if (length < HEADER_BYTES || length > MAX_FRAME_BYTES) {
      throw new LibvirtProtocolError(`frame length ${length} is outside ${HEADER_BYTES}..${MAX_FRAME_BYTES}`);
    }
    return length;
  }

  /** The first chunk, made to hold at least `length` bytes. Copies only where chunks must be joined. */
  #head(length: number): Buffer {
    let head = this.#chunks[0];
    if (head === undefined || head.length < length) {
      head = Buffer.concat(this.#chunks);
      this.#chunks = [head];
    }
    return head;
  }

  #shift(length: number): Buffer {
    const head = this.#head(length);
    const rest = head.subarray(length);
    if (rest.length === 0) this.#chunks.shift();
    else this.#chunks[0] = rest;
    this.#buffered -= length;
    return head.subarray(0, length);
  }
}

function decodeFrame(bytes: Buffer): Frame {
  const version = bytes.readUInt32BE(8);
  if (version !== VERSION) throw new LibvirtProtocolError(`protocol version ${version}, expected ${VERSION}`);
  return {
    program: bytes.readUInt32BE(4),
    procedure: bytes.readInt32BE(12),
    type: bytes.readInt32BE(16),
    serial: bytes.readUInt32BE(20),
    status: bytes.readInt32BE(24),
    payload: bytes.subarray(HEADER_BYTES),
  };
}
