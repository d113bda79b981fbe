import { expect, test } from '@jest/globals';
import { dhcpCauses } from '../../../../api/validation/dhcp.ts';
import { short } from './told.ts';

const privates = (...options: number[]): object => ({
  privateOptions: options.map((option) => ({ option, value: 'x' })),
});

test.each<[string, object, string[]]>([
  ['options for the site', { ntpServers: ['192.0.2.1'], ...privates(224, 254) }, []],
  ['below and above', privates(223, 255), ['Invalid spec', 'Invalid spec']],
  ['one twice', privates(240, 240), ['Invalid spec']],
  ['a time server by name', { ntpServers: ['192.0.2.1', 'time.test'] }, ['Invalid i.dhcpOptions.ntpServers[1]']],
  ['a time server by IPv6', { ntpServers: ['2001:db8::1'] }, ['Invalid i.dhcpOptions.ntpServers[0]']],
])('%s', (_, dhcpOptions, expected) => {
  expect(short(dhcpCauses({ name: 'n', dhcpOptions }, 'i'))).toEqual(expected);
});
