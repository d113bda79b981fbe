import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { polled } from '../../../../launcher/guest-agent/parse.ts';

const parse = (command: string, answer: unknown): object => polled[command]?.(answer) ?? {};

test.each([
  { command: 'guest-info', answer: { version: '7.2.0', supported_commands: [] }, told: { version: '7.2.0' } },
  { command: 'guest-get-host-name', answer: { 'host-name': 'vm' }, told: { hostname: 'vm' } },
  { command: 'guest-get-timezone', answer: { zone: 'UTC', offset: 0 }, told: { timezone: 'UTC, 0' } },
  { command: 'guest-get-timezone', answer: { offset: 3600 }, told: {} },
  {
    command: 'guest-get-osinfo',
    answer: { id: 'debian', 'pretty-name': 'Debian 12', 'kernel-release': '6.1', machine: 'x86_64', variant: 'x' },
    told: { os: { id: 'debian', prettyName: 'Debian 12', kernelRelease: '6.1', machine: 'x86_64' } },
  },
  {
    command: 'guest-network-get-interfaces',
    answer: [
      { name: 'lo', 'ip-addresses': [{ 'ip-address': '127.0.0.1' }] },
      {
        name: 'eth0',
        'hardware-address': '52:54:00:00:00:01',
        'ip-addresses': [{ 'ip-address': '10.0.2.2', prefix: 24 }],
      },
      { name: 'eth1' },
    ],
    told: {
      interfaces: [
        { name: 'eth0', mac: '52:54:00:00:00:01', addresses: ['10.0.2.2'] },
        { name: 'eth1', addresses: [] },
      ],
    },
  },
])('$command tells $told', ({ command, answer, told }) => {
  expect(parse(command, answer)).toEqual(told);
});

test('whatever a guest answers, nothing is thrown', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(polled)), fc.jsonValue(), (command, answer) => {
      expect(typeof parse(command, answer)).toBe('object');
    }),
  );
});

const commands = (...names: string[]) => names.map((name) => ({ name, enabled: true }));
const REQUIRED = [
  ...['guest-ping', 'guest-get-time', 'guest-info', 'guest-shutdown', 'guest-network-get-interfaces'],
  ...['guest-get-fsinfo', 'guest-get-host-name', 'guest-get-users', 'guest-get-timezone', 'guest-get-osinfo'],
];

test.each<[string, object[] | undefined, string[] | undefined]>([
  ['knows all that is needed', commands(...REQUIRED, 'guest-exec'), undefined],
  ['lacks one', commands(...REQUIRED.slice(1)), ['guest-ping']],
  [
    'has one switched off',
    [...commands(...REQUIRED.slice(0, -1)), { name: 'guest-get-osinfo', enabled: false }],
    ['guest-get-osinfo'],
  ],
  ['names none', undefined, undefined],
])('an agent that %s', (_, supported, missing) => {
  const answer = { version: '7.2', ...(supported === undefined ? {} : { supported_commands: supported }) };
  expect(polled['guest-info']?.(answer)).toEqual({
    version: '7.2',
    ...(missing === undefined ? {} : { missingCommands: missing }),
  });
});
