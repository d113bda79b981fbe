import { expect, test } from '@jest/globals';
import { portCauses } from '../../../../api/validation/ports.ts';
import { gated } from '../../../support/instances.ts';
import { short } from './told.ts';

const pod = { name: 'n', pod: {} };
const elsewhere = { name: 'n', multus: { networkName: 'n' } };
const gates = gated(['PortRangesSpec']);
const range = (start: number, end: number, protocol = 'TCP'): object => ({ start, end, protocol });

test.each<[string, object[], string[]]>([
  [
    'some',
    [
      { name: 'http', port: 80 },
      { port: 53, protocol: 'UDP' },
    ],
    [],
  ],
  [
    'one name twice',
    [
      { name: 'a', port: 1 },
      { name: 'a', port: 2 },
    ],
    ['Duplicate i.ports[1].name'],
  ],
  ['a malformed name', [{ name: 'HTTP_port', port: 80 }], ['Invalid i.ports[0].name']],
  ['no port', [{ name: 'a', port: 0 }], ['Required i.ports[0].port']],
  ['out of range', [{ port: 65536 }, { port: -1 }], ['Invalid i.ports[0].port', 'Invalid i.ports[1].port']],
  ['an unknown protocol', [{ port: 1, protocol: 'SCTP' }], ['Invalid i.ports[0].protocol']],
])('ports: %s', (_, ports, expected) => {
  const nic = { name: 'n', masquerade: {}, ports: ports as { port: number }[] };
  expect(short(portCauses(nic, 'i', pod, gates))).toEqual(expected);
  expect(portCauses(nic, 'i', elsewhere, gates)).toEqual([]);
});

test.each<[string, object[], object, string[]]>([
  ['some', [range(1, 9), range(10, 20), range(5, 15, 'UDP')], {}, []],
  ['an unknown protocol', [range(1, 2, 'tcp')], {}, ['Invalid i.portRanges[0].protocol']],
  ['a start that is no port', [range(0, 2)], {}, ['Invalid i.portRanges[0].start']],
  ['an end that is no port', [range(1, 70000)], {}, ['Invalid i.portRanges[0].end']],
  ['backwards', [range(9, 1)], {}, ['Invalid i.portRanges[0].start']],
  ['overlapping', [range(5, 15), range(1, 9)], {}, ['Invalid i.portRanges']],
  ['too many', Array.from({ length: 11 }, (_, index) => range(index + 1, index + 1)), {}, ['Invalid i.portRanges']],
  ['beside ports', [range(1, 2)], { ports: [{ port: 80 }] }, ['Invalid i.name']],
  ['by a bridge', [range(1, 2)], { masquerade: undefined, bridge: {} }, ['Invalid i.name']],
])('ranges: %s', (_, portRanges, more, expected) => {
  const nic = { name: 'n', masquerade: {}, portRanges: portRanges as { start: number; end: number }[], ...more };
  expect(short(portCauses(nic, 'i', pod, gates))).toEqual(expected);
});

test('ranges have a gate, on any network', () => {
  const nic = { name: 'n', bridge: {}, portRanges: [{ start: 1, end: 2, protocol: 'TCP' }] };
  expect(short(portCauses(nic, 'i', elsewhere, gated([])))).toEqual(['Invalid i.name']);
});
