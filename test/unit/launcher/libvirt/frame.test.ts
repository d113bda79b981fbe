import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LibvirtProtocolError } from '../../../../launcher/libvirt/errors.ts';
import { FrameParser, MAX_FRAME_BYTES, Program, encodeFrame } from '../../../../launcher/libvirt/frame.ts';
import type { Frame } from '../../../../launcher/libvirt/frame.ts';

const frames: fc.Arbitrary<Frame> = fc.record({
  program: fc.constantFrom(...Object.values(Program)),
  procedure: fc.integer({ min: 0, max: 500 }),
  type: fc.constantFrom(0, 1, 2, 3),
  serial: fc.nat({ max: 0xffffffff }),
  status: fc.constantFrom(0, 1, 2),
  payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
});

const cut = (bytes: Buffer, places: number[]): Buffer[] => {
  const points = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return points.slice(1).map((point, index) => bytes.subarray(points[index], point));
};

test('frames come out whole and in order, wherever the stream is split', () => {
  fc.assert(
    fc.property(fc.array(frames, { minLength: 1, maxLength: 6 }), fc.array(fc.nat()), (sent, places) => {
      const parser = new FrameParser();
      const received = cut(Buffer.concat(sent.map(encodeFrame)), places).flatMap((chunk) => parser.push(chunk));
      expect(received).toEqual(sent);
    }),
  );
});

test('a stream that arrives byte by byte gives the same frames', () => {
  const [first, second] = fc.sample(frames, 2);
  const bytes = Buffer.concat([first, second].map((frame) => encodeFrame(frame as Frame)));
  const parser = new FrameParser();
  expect([...bytes].flatMap((byte) => parser.push(Buffer.from([byte])))).toEqual([first, second]);
});

const withWord = (offset: number, value: number): Buffer => {
  const bytes = encodeFrame({
    program: Program.remote,
    procedure: 1,
    type: 1,
    serial: 1,
    status: 0,
    payload: Buffer.alloc(0),
  });
  bytes.writeUInt32BE(value, offset);
  return bytes;
};

test.each([
  { what: 'a length shorter than the header', bytes: withWord(0, 27) },
  { what: 'a length of zero', bytes: withWord(0, 0) },
  { what: 'a length above the limit', bytes: withWord(0, MAX_FRAME_BYTES + 1) },
  { what: 'another protocol version', bytes: withWord(8, 2) },
])('refuses $what', ({ bytes }) => {
  expect(() => new FrameParser().push(bytes)).toThrow(LibvirtProtocolError);
});

test('refuses an oversize frame on its first four bytes, before buffering it', () => {
  expect(() => new FrameParser().push(withWord(0, 0x7fffffff).subarray(0, 4))).toThrow(/outside 28\.\./);
});

test('refuses to send more than the peer would take', () => {
  const frame = {
    program: Program.remote,
    procedure: 1,
    type: 0,
    serial: 1,
    status: 0,
    payload: Buffer.alloc(MAX_FRAME_BYTES),
  };
  expect(() => encodeFrame(frame)).toThrow(LibvirtProtocolError);
});
