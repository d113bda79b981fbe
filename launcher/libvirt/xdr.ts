/**
 * XDR (RFC 4506), as far as libvirt's protocol uses it: big-endian, every item padded to a multiple of four bytes.
 */

/** Longest string libvirt itself accepts in a message (REMOTE_STRING_MAX). */
export const MAX_STRING_BYTES = 4 * 1024 * 1024;
/** Longest list we accept: far above any list of one virtual machine, far below what could exhaust memory. */
export const MAX_LIST_LENGTH = 16_384;

/** The bytes are not what their type says: too short, too long, or an impossible value. */
export class XdrError extends Error {
  override readonly name = 'XdrError';
}

const padding = (length: number): number => (4 - (length % 4)) % 4;

/** Appends values to a growing message. Methods return the writer, so that calls chain. */
export class XdrWriter {
  readonly #parts: Buffer[] = [];

  u32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32BE(value);
    return this.#append(part);
  }

  i32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.#append(part);
  }

  u64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigUInt64BE(value);
    return this.#append(part);
  }

  i64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.#append(part);
  }

  f64(value: number): this {
    const part = Buffer.alloc(8);
    part.writeDoubleBE(value);
    return this.#append(part);
  }

  bool(value: boolean): this {
    return this.i32(value ? 1 : 0);
  }

  /** Bytes whose length both sides know, such as a UUID. */
  fixed(bytes: Uint8Array): this {
    return this.#append(Buffer.from(bytes)).#append(Buffer.alloc(padding(bytes.length)));
  }

  opaque(bytes: Uint8Array): this {
    if (bytes.length > MAX_STRING_BYTES) {
      throw new XdrError(`value of ${bytes.length} bytes exceeds the protocol's ${MAX_STRING_BYTES}`);
    }
    return this.u32(bytes.length).fixed(bytes);
  }

  string(value: string): this {
    return this.opaque(Buffer.from(value, 'utf8'));
  }

  optional<T>(value: T | null, write: (value: T) => void): this {
    if (value === null) return this.u32(0);
    this.u32(1);
    write(value);
    return this;
  }

  list<T>(values: readonly T[], write: (value: T) => void): this {
    this.u32(values.length);
    values.forEach((value) => write(value));
    return this;
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #append(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }
}

/** Takes values from a message, in order. @throws XdrError when the bytes do not hold what is asked for */
export class XdrReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Bytes not yet read. */
  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#take(8));
  }

  i64(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  f64(): number {
    return this.#bytes.readDoubleBE(this.#take(8));
  }

  bool(): boolean {
    return this.i32() !== 0;
  }

  /** A copy of `length` bytes. */
  fixed(length: number): Buffer {
    const start = this.#take(length + padding(length));
    return Buffer.from(this.#bytes.subarray(start, start + length));
  }

  opaque(): Buffer {
    const length = this.u32();
    if (length > MAX_STRING_BYTES) throw new XdrError(`value claims ${length} bytes, more than the protocol allows`);
    return this.fixed(length);
  }

  string(): string {
    return this.opaque().toString('utf8');
  }

  optional<T>(read: () => T): T | null {
    const present = this.u32();
    if (present > 1) throw new XdrError(`${present} is neither present (1) nor absent (0)`);
    return present === 1 ? read() : null;
  }

  list<T>(read: () => T): T[] {
    const length = this.u32();
    if (length > MAX_LIST_LENGTH) throw new XdrError(`list claims ${length} entries, more than ${MAX_LIST_LENGTH}`);
    return Array.from({ length }, read);
  }

  #take(length: number): number {
    if (length > this.remaining) {
      throw new XdrError(`message ends early: ${length} bytes wanted, ${this.remaining} left`);
    }
    const start = this.#offset;
    this.#offset += length;
    return start;
  }
}
