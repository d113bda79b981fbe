import { expect, test } from '@jest/globals';
import { dnsRules } from '../../../../api/validation/dns.ts';
import { told } from './told.ts';

const servers = (...nameservers: string[]): object => ({ dnsConfig: { nameservers } });
const searches = (...domains: string[]): object => ({ dnsConfig: { searches: domains } });

test.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['a resolver of its own', { dnsPolicy: 'None', ...servers('192.0.2.53', '2001:db8::53') }, []],
  ['an unknown policy', { dnsPolicy: 'Mine' }, ['NotSupported spec.dnsPolicy']],
  ['none, and none given', { dnsPolicy: 'None' }, ['Required spec.dnsConfig']],
  ['none, and no server given', { dnsPolicy: 'None', dnsConfig: {} }, ['Required nameservers']],
  ['four servers', servers('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'), ['Invalid nameservers']],
  ['a server by name', servers('ns1'), ['Invalid nameservers']],
  ['seven domains', searches(...'abcdefg'), ['Invalid searchDomains']],
  [
    'domains too long',
    searches(...['a', 'b', 'c'].map((name) => `${name.repeat(60)}.${name.repeat(60)}`)),
    ['Invalid searchDomains'],
  ],
  ['a malformed domain', searches('Shop'), ['Invalid searchDomains']],
  ['an option of no name', { dnsConfig: { options: [{ value: '1' }] } }, ['Invalid options']],
])('%s', (_, spec, expected) => {
  expect(told(dnsRules, spec)).toEqual(expected);
});
