import { expect, test } from '@jest/globals';
import {
  binaryQuantity,
  compareQuantities,
  QuantityError,
  quantityFloor,
  quantityMilliValue,
  quantityValue,
} from '../../../../api/kubernetes/quantity.ts';

test.each`
  text        | value         | floor         | milli
  ${'512Mi'}  | ${536870912}  | ${536870912}  | ${536870912000}
  ${'1.5Gi'}  | ${1610612736} | ${1610612736} | ${1610612736000}
  ${'3G'}     | ${3000000000} | ${3000000000} | ${3000000000000}
  ${'100m'}   | ${1}          | ${0}          | ${100}
  ${'2e3'}    | ${2000}       | ${2000}       | ${2000000}
  ${'2E'}     | ${2e18}       | ${2e18}       | ${2e21}
  ${'0.5'}    | ${1}          | ${0}          | ${500}
  ${'1500u'}  | ${1}          | ${0}          | ${2}
  ${'-1500m'} | ${-1}         | ${-2}         | ${-1500}
  ${'.5Ki'}   | ${512}        | ${512}        | ${512000}
  ${'0'}      | ${0}          | ${0}          | ${0}
`('$text is $value rounded up, $floor rounded down, $milli thousandths', ({ text, value, floor, milli }) => {
  expect(quantityValue(text as string)).toBe(value);
  expect(quantityFloor(text as string)).toBe(floor);
  expect(quantityMilliValue(text as string)).toBe(milli);
});

test.each(['', 'Mi', '1 Gi', '1GiB', '0x10', '1..2', 'e3', '1K'])('refuses %p', (text) => {
  expect(() => quantityValue(text)).toThrow(QuantityError);
});

test('compares across suffixes', () => {
  expect(compareQuantities('1Gi', '1024Mi')).toBe(0);
  expect(compareQuantities('1G', '1Gi')).toBe(-1);
  expect(compareQuantities('2', '1999m')).toBe(1);
});

test.each([
  [4 * 2 ** 30, '4Gi'],
  [1536 * 2 ** 20, '1536Mi'],
  [1025, '1025'],
  [0, '0'],
])('%d bytes are written as %s', (bytes, written) => {
  expect(binaryQuantity(bytes)).toBe(written);
});
