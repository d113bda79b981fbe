import { expect, test } from '@jest/globals';
import {
  isFilePath,
  isIP,
  isIPv4,
  isLabel,
  isLabelKey,
  isLabelValue,
  isMac,
  isPciAddress,
  isPort,
  isPortName,
  isSubdomain,
} from '../../../../api/validation/formats.ts';

test.each<[string, (text: string) => boolean, string[], string[]]>([
  ['label', isLabel, ['a', 'a-1', 'x'.repeat(63)], ['', '-a', 'a-', 'A', 'a.b', 'x'.repeat(64)]],
  ['domain', isSubdomain, ['a', 'a.b-c.d'], ['', 'a..b', '.a', 'A.b', `${'a.'.repeat(127)}ab`]],
  ['key of a label', isLabelKey, ['a', 'A_b.c', 'example.test/a'], ['', '/a', 'a/', 'a/b/c', 'UP.test/a', '-a']],
  ['value of a label', isLabelValue, ['', 'a', 'A_b.c'], ['-a', 'a b', 'x'.repeat(64)]],
  ['name of a port', isPortName, ['http', 'a-1'], ['', '80', 'a--b', '-a', 'HTTP', 'x'.repeat(16)]],
  [
    'MAC',
    isMac,
    ['02:00:00:aa:bb:cc', '02-00-00-AA-BB-CC', '0200.00aa.bbcc'],
    ['', '02:00', '02:00:00:aa:bb:cc:dd:ee'],
  ],
  ['PCI address', isPciAddress, ['0000:81:01.0', 'AbCd:00:1f.7'], ['', '81:01.0', '0000:81:01.8']],
  ['IPv4', isIPv4, ['192.0.2.1'], ['', '192.0.2', '192.0.2.256', '::1']],
  ['IP', isIP, ['192.0.2.1', '::1', '2001:db8::1'], ['', 'ns1', '2001:::1']],
  ['path of a file', isFilePath, ['/a', '/a/b.img', '/a/'], ['', '/', 'a', '/a/../b', '/a/./b', '/a//b', '//']],
])('%s', (_, is, good, bad) => {
  expect(good.filter((text) => !is(text))).toEqual([]);
  expect(bad.filter(is)).toEqual([]);
});

test('a port lies between 1 and 65535', () => {
  expect([-1, 0, 1, 65535, 65536].filter(isPort)).toEqual([1, 65535]);
});
