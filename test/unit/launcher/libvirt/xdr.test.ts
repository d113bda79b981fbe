import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_LIST_LENGTH, MAX_STRING_BYTES, XdrError, XdrReader, XdrWriter } from '../../../../launcher/libvirt/xdr.ts';

const written = (write: (writer: XdrWriter) => void): Buffer => {
  const writer = new XdrWriter();
  write(writer);
  return writer.toBuffer();
};

test('values come back as they were written, whatever their order', () => {
  const value = fc.oneof(
    fc.record({ type: fc.constant('u32' as const), value: fc.nat({ max: 0xffffffff }) }),
    fc.record({ type: fc.constant('i32' as const), value: fc.integer() }),
    fc.record({ type: fc.constant('u64' as const), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    fc.record({ type: fc.constant('i64' as const), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    fc.record({ type: fc.constant('f64' as const), value: fc.double({ noNaN: true }) }),
    fc.record({ type: fc.constant('bool' as const), value: fc.boolean() }),
    fc.record({ type: fc.constant('string' as const), value: fc.string({ unit: 'grapheme' }) }),
  );
  fc.assert(
    fc.property(fc.array(value), (values) => {
      const bytes = written((writer) => {
        for (const item of values) (writer[item.type] as (value: unknown) => XdrWriter).call(writer, item.value);
      });
      const reader = new XdrReader(bytes);
      expect(values.map((item) => ({ type: item.type, value: reader[item.type]() }))).toEqual(values);
      expect(reader.remaining).toBe(0);
    }),
  );
});

test('every item takes a multiple of four bytes', () => {
  for (const text of ['', 'a', 'ab', 'abc', 'abcd']) {
    expect(written((writer) => writer.string(text)).length % 4).toBe(0);
  }
});

test('optional values and lists come back', () => {
  const bytes = written((writer) =>
    writer
      .optional('name', (text) => writer.string(text))
      .optional<string>(null, (text) => writer.string(text))
      .list([3, 1, 2], (item) => writer.i32(item)),
  );
  const reader = new XdrReader(bytes);
  expect(reader.optional(() => reader.string())).toBe('name');
  expect(reader.optional(() => reader.string())).toBeNull();
  expect(reader.list(() => reader.i32())).toEqual([3, 1, 2]);
});

test('random bytes are read or refused with an XdrError, never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const reader = new XdrReader(Buffer.from(bytes));
      try {
        reader.list(() => [reader.string(), reader.optional(() => reader.u64()), reader.fixed(16)]);
      } catch (error) {
        expect(error).toBeInstanceOf(XdrError);
      }
    }),
  );
});

test.each([
  { claim: 'a string longer than the message', bytes: [8] },
  { claim: 'a string longer than allowed', bytes: [MAX_STRING_BYTES + 1] },
  { claim: 'a negative length', bytes: [0xffffffff] },
])('refuses $claim', ({ bytes }) => {
  const message = written((writer) => bytes.forEach((word) => writer.u32(word)));
  expect(() => new XdrReader(message).string()).toThrow(XdrError);
});

test('refuses a list longer than allowed before it allocates anything for it', () => {
  const message = written((writer) => writer.u32(MAX_LIST_LENGTH + 1));
  expect(() => new XdrReader(message).list(() => 0)).toThrow(/claims 16385 entries/);
});

test('refuses to write a string that libvirt would not accept', () => {
  expect(() => new XdrWriter().string('x'.repeat(MAX_STRING_BYTES + 1))).toThrow(XdrError);
});
