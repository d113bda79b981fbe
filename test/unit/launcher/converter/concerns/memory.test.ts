import { expect, test } from '@jest/globals';
import { memory } from '../../../../../launcher/converter/concerns/memory.ts';
import { host, vmi } from '../examples.ts';

test.each`
  from                       | domain                                                                                 | bytes
  ${'guest'}                 | ${{ memory: { guest: '96Mi' } }}                                                       | ${100663296}
  ${'guest before requests'} | ${{ memory: { guest: '64Mi' }, resources: { requests: { memory: '1Gi' } } }}           | ${67108864}
  ${'request'}               | ${{ memory: {}, resources: { requests: { memory: '500M' } } }}                         | ${500000000}
  ${'request before limit'}  | ${{ memory: {}, resources: { requests: { memory: '1k' }, limits: { memory: '2k' } } }} | ${1000}
  ${'limit'}                 | ${{ memory: {}, resources: { limits: { memory: '2k' } } }}                             | ${2000}
  ${'a fraction of a byte'}  | ${{ memory: { guest: '1500m' } }}                                                      | ${1}
`('$from: $bytes bytes', ({ domain, bytes }) => {
  expect(memory(vmi({ domain: domain as object }), host()).memory).toEqual({ '@unit': 'b', '#text': bytes });
});

test('how far it may grow, if anybody says so', () => {
  const maximum = (domain: object) => memory(vmi({ domain }), host()).maxMemory;
  expect(maximum({ memory: { guest: '1Gi', maxGuest: '4Gi' } })).toEqual({
    ...{ '@slots': 0, '@unit': 'b', '#text': 4 * 2 ** 30 },
  });
  expect(maximum({ memory: { guest: '1Gi' } })).toBeUndefined();
});

test.each([{ memory: {} }, { memory: { guest: '-1Mi' } }])('%p names the field', (domain) => {
  expect(() => memory(vmi({ domain }), host())).toThrow(/^spec\.domain\.memory\.guest: /);
});
