import type { TransformCallback } from 'node:stream';
import { Transform } from 'node:stream';

/**
 * Keeps what is under way between two node workers short. The kernel's own buffers take some ten megabytes of a connection whose reader is slower than
 * its writer: QEMU believes that they have arrived, stops the guest, and the guest stands still until they have. So the source's side sends raw bytes
 * and no more than a window's worth that the target has not taken; the target's side sends frames back: what its Pod says, and what it has taken.
 */

/** At 1 ms between two nodes that is a gigabyte per second, and a hundredth of one is what a guest waits for. */
const WINDOW_BYTES = 1024 * 1024;
const ACKNOWLEDGE_EVERY_BYTES = WINDOW_BYTES / 16;

/** A frame's head has four bytes: the number of bytes that follow, or, with this bit, of bytes that were taken. */
const TAKEN = 0x8000_0000;
const HEAD_BYTES = 4;

/** The two directions of a connection, as its Pod's side sees them. */
export interface Directions {
  /** From the Pod to the network. */
  out: Transform;
  /** From the network to the Pod. */
  in: Transform;
}

/** The source's side. */
export const sourceWindow = (bytes = WINDOW_BYTES): Directions => {
  let underWay = 0;
  let isOver = false;
  let waiting: (() => void) | undefined;
  const go = (): void => {
    if (waiting === undefined || (underWay >= bytes && !isOver)) return;
    const send = waiting;
    waiting = undefined;
    send();
  };
  const out = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting = () => {
        underWay += chunk.length;
        done(null, chunk);
      };
      go();
    },
  });
  const take = frameReader((taken) => {
    underWay = Math.max(0, underWay - taken);
    go();
  });
  const incoming = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const piece of take(chunk)) this.push(piece);
      done();
    },
    // The target will say nothing any more: what it takes is known by back-pressure alone.
    flush(done) {
      isOver = true;
      go();
      done();
    },
  });
  return { out, in: incoming };
};

/** The target's side. */
export const targetWindow = (acknowledgeEvery = ACKNOWLEDGE_EVERY_BYTES): Directions => {
  let taken = 0;
  const out = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      this.push(head(chunk.length));
      done(null, chunk);
    },
  });
  const incoming = new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      taken += chunk.length;
      if (taken >= acknowledgeEvery && !out.writableEnded) {
        out.push(head(TAKEN + taken));
        taken = 0;
      }
      done(null, chunk);
    },
  });
  return { out, in: incoming };
};

const head = (value: number): Buffer => {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Takes frames apart however they are cut, and returns what they carry. */
const frameReader = (onTaken: (bytes: number) => void): ((chunk: Buffer) => Buffer[]) => {
  let begun = Buffer.alloc(0);
  let left = 0;
  return (chunk) => {
    const pieces: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (left > 0) {
        pieces.push(rest.subarray(0, left));
        const length = Math.min(left, rest.length);
        left -= length;
        rest = rest.subarray(length);
        continue;
      }
      const missing = HEAD_BYTES - begun.length;
      begun = Buffer.concat([begun, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (begun.length < HEAD_BYTES) break;
      const value = begun.readUInt32BE();
      begun = Buffer.alloc(0);
      if (value >= TAKEN) onTaken(value - TAKEN);
      else left = value;
    }
    return pieces;
  };
};
